/* Sums along a row, in the same order on every level: those of a vector of PN_LANES lanes, whose lane l sums the columns
 * l, l + PN_LANES, l + 2 PN_LANES, ... Where registers are shorter, a vector has parts, each with its own sums, and
 * q_join() and v_total() put them together in the order in which the longest registers join their lanes.
 *
 *   PN_EACH_PART(statement)  runs it for each part q of a vector;
 *   PN_WALK(h, statement)    runs it for each part q of each vector of a row of length h. Its first column is j; with
 *                            `tail` only some columns lie within the row, and `lanes` says which.
 *
 * Macros, because q has to be a constant: otherwise the compiler would keep the sums in memory.
 */

#define PN_LANES 16
#define PN_PARTS (PN_LANES / PN_W)

#define PN_PART(number, statement)                                                                                     \
  do {                                                                                                                 \
    const size_t q = number;                                                                                           \
    statement;                                                                                                         \
  } while (0)

#define PN_VISIT(column, number, rest, count, statement)                                                               \
  do {                                                                                                                 \
    const size_t j = column, q = number;                                                                               \
    const int tail = rest;                                                                                             \
    const M lanes = v_head(count);                                                                                     \
    statement;                                                                                                         \
  } while (0)

#if PN_PARTS == 1

#define PN_EACH_PART(statement) PN_PART(0, statement)

#define PN_WALK(h, statement)                                                                                          \
  do {                                                                                                                 \
    size_t at_ = 0;                                                                                                    \
    for (; at_ + PN_W <= h; at_ += PN_W) PN_VISIT(at_, 0, 0, PN_W, statement);                                         \
    if (at_ < h) PN_VISIT(at_, 0, 1, h - at_, statement);                                                              \
  } while (0)

#elif PN_PARTS == 2

#define PN_EACH_PART(statement)                                                                                        \
  do {                                                                                                                 \
    PN_PART(0, statement);                                                                                             \
    PN_PART(1, statement);                                                                                             \
  } while (0)

#define PN_WALK(h, statement)                                                                                          \
  do {                                                                                                                 \
    size_t at_ = 0;                                                                                                    \
    for (; at_ + PN_LANES <= h; at_ += PN_LANES) {                                                                     \
      PN_VISIT(at_, 0, 0, PN_W, statement);                                                                            \
      PN_VISIT(at_ + PN_W, 1, 0, PN_W, statement);                                                                     \
    }                                                                                                                  \
    if (at_ + PN_W <= h) {                                                                                             \
      PN_VISIT(at_, 0, 0, PN_W, statement);                                                                            \
      if (at_ + PN_W < h) PN_VISIT(at_ + PN_W, 1, 1, h - at_ - PN_W, statement);                                       \
    } else if (at_ < h) {                                                                                              \
      PN_VISIT(at_, 0, 1, h - at_, statement);                                                                         \
    }                                                                                                                  \
  } while (0)

#else /* one lane each */

#define PN_EACH_PART(statement)                                                                                        \
  do {                                                                                                                 \
    for (size_t part_ = 0; part_ < PN_PARTS; part_++) PN_PART(part_, statement);                                       \
  } while (0)

#define PN_WALK(h, statement)                                                                                          \
  do {                                                                                                                 \
    for (size_t at_ = 0; at_ < h; at_++) PN_VISIT(at_, at_ % PN_PARTS, 0, 1, statement);                               \
  } while (0)

#endif
