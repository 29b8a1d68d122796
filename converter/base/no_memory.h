/* SPDX-License-Identifier: Apache-2.0 */
/* The error for an allocation failure that is not related to a file. */
#ifndef CONVERTER_BASE_NO_MEMORY_H
#define CONVERTER_BASE_NO_MEMORY_H

#include "steptrace/status.h"

static inline enum step_status no_memory(struct step_error *error)
{
    return step_error_set(error, STEP_STATUS_NO_MEMORY, NULL, STEP_NO_OFFSET, "out of memory");
}

#endif
