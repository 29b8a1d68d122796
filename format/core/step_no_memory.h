/* SPDX-License-Identifier: Apache-2.0 */
/* Reports that memory ran out, with the same message everywhere. */
#ifndef FORMAT_CORE_STEP_NO_MEMORY_H
#define FORMAT_CORE_STEP_NO_MEMORY_H

#include "steptrace/status.h"

/* Returns NO_MEMORY and fills `error`.  `error` and the name of the current file may be NULL. */
static inline enum step_status step_no_memory(struct step_error *error, const char *file)
{
    return step_error_set(error, STEP_STATUS_NO_MEMORY, file, STEP_NO_OFFSET, "out of memory");
}

#endif
