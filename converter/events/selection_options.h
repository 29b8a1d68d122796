/* SPDX-License-Identifier: Apache-2.0 */
/* The options that say which part of a trace a verb wants. */
#ifndef CONVERTER_EVENTS_SELECTION_OPTIONS_H
#define CONVERTER_EVENTS_SELECTION_OPTIONS_H

#include "converter/base/arguments.h"
#include "converter/events/event_selection.h"

/* Values of options, as in arguments.h. */
bool take_kinds(void *uint32_target, const char *value, const char **fault);
bool take_selected_thread(void *selection_target, const char *value, const char **fault);

/* The rows of the slicing options. */
#define SELECTION_ROWS(selected)                                                                   \
    {"from-time", 0,                                                                               \
     "T",         "only events at T or later (1500, 3us, 200ms, 1.5s; plain: ns)",                 \
     take_time,   &(selected)->from_ns},                                                           \
        {"to-time", 0, "T", "only events at T or earlier", take_time, &(selected)->to_ns},         \
        {"thread", 0, "N", "only events of thread N", take_selected_thread, (selected)},           \
        {"dtd",     0,                                                                             \
         "FILE",    "the DTD of a Meta-TF trace that does not carry it",                           \
         take_text, &(selected)->dtd_path},                                                        \
        {"kind", 0, "KINDS", "only these kinds, as OA,OF", take_kinds, &(selected)->kinds},        \
    {                                                                                              \
        "class", 0, "GLOB", "only events of classes that match (* stops at /, ** does not)",       \
            take_text, &(selected)->class_glob                                                     \
    }

#endif
