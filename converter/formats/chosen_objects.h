/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that a selection chooses by their deaths: --lifetime, --alive-at, --temporary.  A
 * separate pass over allocations and frees finds them.  Memory is proportional to the live set,
 * plus a bit for each object in ranges where only some objects are selected.
 */
#ifndef CONVERTER_FORMATS_CHOSEN_OBJECTS_H
#define CONVERTER_FORMATS_CHOSEN_OBJECTS_H

#include "converter/base/id_set.h"
#include "converter/formats/format_table.h"

/* Adds the selected objects to `out`.  Returns NOT_FOUND if the moment of --alive-at is not in the
 * trace. */
enum step_status chosen_objects_find(const char *path, const struct trace_format *format,
                                     const struct event_selection *selected, struct id_set *out,
                                     struct step_error *error);

#endif
