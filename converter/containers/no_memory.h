/* SPDX-License-Identifier: Apache-2.0 */
/* The error for an allocation failure that is not related to a file. */
#ifndef CONVERTER_CONTAINERS_NO_MEMORY_H
#define CONVERTER_CONTAINERS_NO_MEMORY_H

#include "format/core/step_no_memory.h"

static inline enum step_status no_memory(struct step_error *error)
{
    return step_no_memory(error, NULL);
}

#endif
