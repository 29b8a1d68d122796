/* SPDX-License-Identifier: Apache-2.0 */
/* Memory is out: said in one way everywhere. */
#ifndef FORMAT_CORE_NO_MEMORY_H
#define FORMAT_CORE_NO_MEMORY_H

#include "steptrace/status.h"

/* NO_MEMORY; fills `error`, which may be NULL, as may the name of the file at hand. */
static inline enum step_status step_no_memory(struct step_error *error, const char *file)
{
    return step_error_set(error, STEP_STATUS_NO_MEMORY, file, STEP_NO_OFFSET, "out of memory");
}

#endif
