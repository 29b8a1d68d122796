/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects that a selection leaves by what only their deaths tell: --lifetime, --alive-at,
 * --temporary.  They are found in a pass of its own over allocations and frees; memory is that of
 * what lives, and a bit for each object where chosen ones and others mix.
 */
#ifndef CONVERTER_FORMATS_CHOSEN_OBJECTS_H
#define CONVERTER_FORMATS_CHOSEN_OBJECTS_H

#include "converter/base/id_set.h"
#include "converter/formats/open_trace.h"

/* Adds them to `out`.  NOT_FOUND: the moment of --alive-at never came. */
enum step_status chosen_objects_find(const char *path, const struct trace_format *format,
                                     const struct event_selection *selected, struct id_set *out,
                                     struct step_error *error);

#endif
