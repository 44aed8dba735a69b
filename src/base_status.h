/* What a core function reports. Only the r_* layer turns a status into an R condition, after everything is freed. */
#ifndef PN_BASE_STATUS_H
#define PN_BASE_STATUS_H

typedef enum {
  PN_OK = 0,
  PN_NO_MEMORY, /* an allocation failed */
  PN_DIVERGED,  /* the training loss stopped being finite */
  PN_STOPPED    /* the caller asked to stop */
} pn_status;

#endif
