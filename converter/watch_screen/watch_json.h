/* SPDX-License-Identifier: Apache-2.0 */
/* One look at a trace, as JSON (docs/schemas/watch.schema.json). */
#ifndef CONVERTER_WATCH_SCREEN_WATCH_JSON_H
#define CONVERTER_WATCH_SCREEN_WATCH_JSON_H

#include <stdio.h>

#include "converter/watch_screen/watch_view.h"

/* `top`: rows of each table, by what the view sorts it by; 0: all.  False: out of memory. */
bool watch_print_json(struct watch_view *view, size_t top, FILE *out);

#endif
