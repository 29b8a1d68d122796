/* SPDX-License-Identifier: Apache-2.0 */
/* What is to be replayed, and how. */
#ifndef CONVERTER_REPLAY_REPLAY_SETTINGS_H
#define CONVERTER_REPLAY_REPLAY_SETTINGS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "converter/open/format_table.h"

struct replay_settings {
    const char *path;                  /* of a file that can be read again and again */
    const char *name;                  /* what the person calls it */
    const struct trace_format *format; /* NULL: by ending and content */
    bool is_threaded;
    bool is_paced;
    bool refuses;
    uint32_t touch; /* enum replay_touch */
    uint64_t repeat;
    uint64_t memory_bytes; /* for operations; what needs more is streamed; 0: a quarter of all */
    char driver[PATH_MAX];
};

#endif
