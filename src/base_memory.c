/* Free memory by system; see base_memory.h. */
#include "base_memory.h"

#include <stdint.h>
#include <stdio.h>

#include "base_size.h"

#if defined(_WIN32)
#include <windows.h>
#else
#include <sys/resource.h>
#include <unistd.h>
#endif

static size_t least(size_t a, size_t b) {
  return a < b ? a : b;
}

/* At most SIZE_MAX of a number that may be wider. */
static size_t clamp(unsigned long long bytes) {
  return bytes < SIZE_MAX ? (size_t)bytes : SIZE_MAX;
}

#if defined(_WIN32)

size_t pn_memory_available(void) {
  MEMORYSTATUSEX status;
  status.dwLength = sizeof(status);
  return GlobalMemoryStatusEx(&status) ? least(clamp(status.ullAvailPageFile), clamp(status.ullAvailVirtual))
                                       : SIZE_MAX;
}

#else

/* MemAvailable and SwapFree of Linux; elsewhere, or when they are not there, all the memory that is built in. */
static size_t machine(void) {
  unsigned long long kib, available = 0, swap = 0;
  char line[128];
  FILE *file = fopen("/proc/meminfo", "r");
  while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
    if (sscanf(line, "MemAvailable: %llu", &kib) == 1) available = kib;
    if (sscanf(line, "SwapFree: %llu", &kib) == 1) swap = kib;
  }
  if (file != NULL) fclose(file);
  if (available > 0) return clamp((available + swap) * 1024);
#if defined(_SC_PHYS_PAGES) && defined(_SC_PAGESIZE)
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  if (pages > 0 && size > 0) return PN_SIZE((size_t)pages, (size_t)size);
#endif
  return SIZE_MAX;
}

/* The first number of a file; SIZE_MAX when there is none ("max", or no such file). */
static size_t read_number(const char *path) {
  unsigned long long number;
  FILE *file = fopen(path, "r");
  const int found = file != NULL && fscanf(file, "%llu", &number) == 1;
  if (file != NULL) fclose(file);
  return found ? clamp(number) : SIZE_MAX;
}

static size_t container(void) {
  return least(read_number("/sys/fs/cgroup/memory.max"), read_number("/sys/fs/cgroup/memory/memory.limit_in_bytes"));
}

static size_t addresses(void) {
#ifdef RLIMIT_AS
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
  const size_t most = clamp((unsigned long long)limit.rlim_cur), pages = read_number("/proc/self/statm");
  const size_t used = pages == SIZE_MAX ? 0 : PN_SIZE(pages, (size_t)sysconf(_SC_PAGESIZE));
  return used < most ? most - used : 0;
#else
  return SIZE_MAX;
#endif
}

size_t pn_memory_available(void) {
  return least(machine(), least(container(), addresses()));
}

#endif
