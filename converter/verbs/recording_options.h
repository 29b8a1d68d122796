/* SPDX-License-Identifier: Apache-2.0 */
/* The options that a recorder gets from `record`, `attach` and `record-malloc`: key=value pairs. */
#ifndef CONVERTER_VERBS_RECORDING_OPTIONS_H
#define CONVERTER_VERBS_RECORDING_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Frames of each allocation's call stack where a report is made and nobody gave a number. */
#define RECORDING_REPORT_STACK ",stack=16"

/* ",key=value" for each pair, in the order in which they were given: the last one of a key counts.
 */
struct recording_options {
    char text[8192];
};

/* Values of option rows (converter/base/arguments.h); the target is a struct recording_options. */
bool recording_take_pair(void *options_target, const char *value, const char **fault);
bool recording_take_events(void *options_target, const char *value, const char **fault);
bool recording_take_stack(void *options_target, const char *value, const char **fault);
bool recording_take_mode(void *options_target, const char *value, const char **fault);

/* True if this pair, `key=value`, was given. */
bool recording_has_pair(const struct recording_options *options, const char *pair);
/* What the last `mode=` asks for, 0600 if there is none. */
mode_t recording_mode(const struct recording_options *options);
/* True if the last `overwrite=` is yes. */
bool recording_overwrites(const struct recording_options *options);

#endif
