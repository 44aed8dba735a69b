/* Arena of zeroed, 64-byte aligned blocks in a singly linked list; see base_arena.h for who owns what. */
#include "base_arena.h"

#include <stdint.h>
#include <stdlib.h>

#define PN_ALIGN ((size_t)64)

struct pn_arena_block {
  pn_arena_block *previous;
};

void pn_arena_init(pn_arena *arena) {
  arena->last = NULL;
  arena->failed = 0;
}

void *pn_arena_alloc(pn_arena *arena, size_t count, size_t size) {
  const size_t head = sizeof(pn_arena_block) + PN_ALIGN;
  if (size != 0 && count > (SIZE_MAX - head) / size) {
    arena->failed = 1;
    return NULL;
  }
  pn_arena_block *block = calloc(1, head + count * size);
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
