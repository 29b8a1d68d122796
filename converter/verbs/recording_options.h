/* SPDX-License-Identifier: Apache-2.0 */
/* Recorder options of `record`, `attach` and `record-malloc`: key=value pairs. */
#ifndef CONVERTER_VERBS_RECORDING_OPTIONS_H
#define CONVERTER_VERBS_RECORDING_OPTIONS_H

#include <stdbool.h>
#include <sys/types.h>

/* Call stack depth for a report if the user gave none. */
#define RECORDING_REPORT_STACK ",stack=16"

/* ",key=value" for each pair, in command line order; the last one of a key counts. */
struct recording_options {
    char text[8192];
};

/* Parsers of option rows (converter/base/arguments.h); the target is a struct recording_options. */
bool recording_take_pair(void *options_target, const char *value, const char **fault);
bool recording_take_events(void *options_target, const char *value, const char **fault);
bool recording_take_stack(void *options_target, const char *value, const char **fault);
bool recording_take_mode(void *options_target, const char *value, const char **fault);

/* Returns true if this pair, `key=value`, was given. */
bool recording_has_pair(const struct recording_options *options, const char *pair);
/* Returns the value of the last `mode=`, or 0600. */
mode_t recording_mode(const struct recording_options *options);
/* Returns true if the last `overwrite=` is yes. */
bool recording_overwrites(const struct recording_options *options);

#endif
