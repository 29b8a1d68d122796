/* SPDX-License-Identifier: Apache-2.0 */
/* A selection as it is typed while a trace is watched: "class=com.acme.** size=>=1k". */
#ifndef CONVERTER_WATCH_WATCH_SELECTION_H
#define CONVERTER_WATCH_WATCH_SELECTION_H

#include "converter/trace/event_selection.h"

/* Adds what the text says, whose words are cut apart and borrowed, to the selection.  False:
 * `fault` says where and what is wrong. */
bool watch_selection_parse(char *text, struct event_selection *selected, char *fault,
                           size_t fault_size);
/* The name of an option that cannot be asked of a trace that is being written; NULL: none was. */
const char *watch_selection_fault(const struct event_selection *selected);

#endif
