/* Arena: every buffer of one fit or prediction, freed together.
 *
 * The caller of the core owns the arena: it is created empty, passed down, and freed once, on success, error or
 * interrupt alike (the r_* layer does so under R_ExecWithCleanup). Nobody below frees single buffers.
 */
#ifndef PN_BASE_ARENA_H
#define PN_BASE_ARENA_H

#include <stddef.h>

typedef struct pn_arena_block pn_arena_block;

typedef struct {
  pn_arena_block *last;
  int failed;    /* an allocation has failed since the arena was created */
  int measuring; /* see pn_arena_measure */
  size_t bytes;  /* asked for so far */
} pn_arena;

void pn_arena_init(pn_arena *arena);

/* `count` zeroed items of `size` bytes on a 64-byte boundary, owned by the arena. NULL when memory is short (then
 * `arena->failed` is set, so that a group of allocations can be checked once) but never for a count of zero. */
void *pn_arena_alloc(pn_arena *arena, size_t count, size_t size);

/* An arena that takes nothing: allocations return NULL without failing and only `bytes` grows. Functions that reserve
 * memory from an arena leave it unwritten when it measures, so that one piece of code says how much is needed and takes
 * it. */
void pn_arena_measure(pn_arena *arena);

void pn_arena_free(pn_arena *arena);

#endif
