/* Arena of zeroed, 64-byte aligned blocks in a singly linked list; see base_arena.h for who owns what. */
#include "base_arena.h"

#include <stdint.h>
#include <stdlib.h>

#include "base_size.h"

#define PN_ALIGN ((size_t)64)

struct pn_arena_block {
  pn_arena_block *previous;
};

void pn_arena_init(pn_arena *arena) {
  arena->last = NULL;
  arena->failed = 0;
  arena->measuring = 0;
  arena->bytes = 0;
}

void pn_arena_measure(pn_arena *arena) {
  pn_arena_init(arena);
  arena->measuring = 1;
}

void *pn_arena_alloc(pn_arena *arena, size_t count, size_t size) {
  const size_t bytes = pn_size_add(sizeof(pn_arena_block) + PN_ALIGN, PN_SIZE(count, size));
  arena->bytes = pn_size_add(arena->bytes, bytes);
  if (arena->measuring) return NULL;
  pn_arena_block *block = bytes == PN_SIZE_TOO_LARGE ? NULL : calloc(1, bytes);
  if (block == NULL) {
    arena->failed = 1;
    return NULL;
  }
  block->previous = arena->last;
  arena->last = block;
  const uintptr_t first = (uintptr_t)(block + 1);
  return (void *)((first + PN_ALIGN - 1) & ~(uintptr_t)(PN_ALIGN - 1));
}

void pn_arena_free(pn_arena *arena) {
  while (arena->last != NULL) {
    pn_arena_block *block = arena->last;
    arena->last = block->previous;
    free(block);
  }
}
