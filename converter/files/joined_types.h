/* SPDX-License-Identifier: Apache-2.0 */
/* Record types of Java traces that mean something else within a joined trace. */
#ifndef CONVERTER_FILES_JOINED_TYPES_H
#define CONVERTER_FILES_JOINED_TYPES_H

#include <stdbool.h>
#include <stdint.h>

#include "steptrace/definition.h"

struct joined_types {
    uint32_t vm_start, vm_init, vm_death, thread_end;
    uint32_t class_load, class_existing, thread_start, thread_existing;
    uint32_t object_free, object_free_earlier;
};

struct joined_types joined_types_find(const struct step_definition *definition);
/* Returns true for the definition of a Java trace whose fields have one slot each, and in which
 * frees are as they must be. */
bool joined_types_fit(const struct step_definition *definition, const struct joined_types *types);

#endif
