/* SPDX-License-Identifier: Apache-2.0 */
/* Parses a selection typed while a trace is watched: "class=com.acme.** size=>=1k". */
#ifndef CONVERTER_WATCH_WATCH_SELECTION_H
#define CONVERTER_WATCH_WATCH_SELECTION_H

#include "converter/trace/event_selection.h"

/* Adds the text's criteria to the selection, which borrows the text's words; modifies `text`.
 * Returns false with the position and the reason in `fault`. */
bool watch_selection_parse(char *text, struct event_selection *selected, char *fault,
                           size_t fault_size);
/* Returns the name of an option that does not work while a trace is being written; NULL: none was
 * used. */
const char *watch_selection_fault(const struct event_selection *selected);

#endif
