/* What is to be kept of members in training; see r_save.h. */
#include "r_save.h"

#include <string.h>

#include "base_clock.h"

void pn_r_saver_init(pn_saver *saver, SEXP train) {
  saver->save = pn_r_element(train, "save");
  saver->seconds = saver->save == R_NilValue ? 0 : pn_r_number(train, "save_seconds");
  saver->asked = pn_clock_now();
  atomic_init(&saver->news, 0);
}

/* One phase to another, unless it has changed meanwhile. */
static int move(pn_slot *slot, int from, int to) {
  return atomic_compare_exchange_strong(&slot->phase, &from, to);
}

unsigned char *pn_slot_place(pn_slot *slot, size_t size) {
  if (atomic_load(&slot->phase) != PN_SLOT_WANTED) return NULL;
  if (slot->state == NULL) slot->state = pn_arena_alloc(&slot->arena, size, 1);
  slot->size = size;
  return slot->state; /* without memory for it the member goes on all the same */
}

void pn_slot_written(pn_slot *slot, pn_saver *saver) {
  if (move(slot, PN_SLOT_WANTED, PN_SLOT_READY)) atomic_fetch_add(&saver->news, 1);
}

void pn_slot_end(pn_slot *slot, pn_saver *saver) {
  atomic_store(&slot->phase, PN_SLOT_ENDED);
  atomic_fetch_add(&saver->news, 1);
}

int pn_saver_due(pn_saver *saver) {
  const double now = pn_clock_now();
  if (now - saver->asked < saver->seconds && now >= saver->asked) return 0; /* clocks may be set back */
  saver->asked = now;
  return 1;
}

void pn_slot_ask(pn_slot *slot) {
  move(slot, PN_SLOT_IDLE, PN_SLOT_WANTED);
}

void pn_r_slot_give(pn_slot *slot, const pn_saver *saver, size_t number, SEXP (*result)(const void *from),
                    const void *from) {
  const int phase = atomic_load(&slot->phase);
  if (phase != PN_SLOT_READY && phase != PN_SLOT_ENDED) return;
  const int state = phase == PN_SLOT_READY;
  SEXP value = PROTECT(state ? Rf_allocVector(RAWSXP, (R_xlen_t)slot->size) : result(from));
  if (state) memcpy(RAW(value), slot->state, slot->size);
  if (!move(slot, phase, state ? PN_SLOT_IDLE : PN_SLOT_TOLD)) { /* has ended meanwhile: that is news of its own */
    UNPROTECT(1);
    return;
  }
  if (!state) pn_arena_free(&slot->arena);
  SEXP call = PROTECT(
      Rf_lang4(saver->save, PROTECT(Rf_ScalarReal((double)number + 1)), value, PROTECT(Rf_ScalarLogical(state))));
  Rf_eval(call, R_GlobalEnv);
  UNPROTECT(4);
}
