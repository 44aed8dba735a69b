/* How much memory this process can still have. */
#ifndef PN_BASE_MEMORY_H
#define PN_BASE_MEMORY_H

#include <stddef.h>

/* Bytes, the least of what the machine has free (with swap), what its container allows in all, and what is left of the
 * process's limit on addresses (ulimit -v). What a system does not tell does not count; SIZE_MAX when it tells nothing.
 * A request above it cannot be met; one below it may still fail. */
size_t pn_memory_available(void);

#endif
