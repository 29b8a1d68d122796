/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A text that a trace or another process said: anything may be in it.  The type is one that
 * printf() does not take, so that it goes out by one of the functions below.
 */
#ifndef CONVERTER_CLI_TRACE_TEXT_H
#define CONVERTER_CLI_TRACE_TEXT_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "converter/cli/csv_output.h"
#include "converter/cli/error_report.h"
#include "format/json/json_output.h"
#include "steptrace/value.h"

/* `unshown` is for comparing and parsing; scripts/check-tree.py finds where it is printed.  NULL:
 * the trace does not have the text. */
struct trace_text {
    const char *unshown;
};

static inline struct trace_text trace_text_of(const char *text)
{
    return (struct trace_text){text};
}

static inline bool trace_text_is_there(struct trace_text text)
{
    return text.unshown != NULL;
}

static inline bool trace_text_is(struct trace_text text, const char *other)
{
    return text.unshown != NULL && strcmp(text.unshown, other) == 0;
}

/* The text, or another one if the trace does not have it. */
static inline struct trace_text trace_text_or(struct trace_text text, const char *otherwise)
{
    return text.unshown != NULL ? text : trace_text_of(otherwise);
}

/* The bytes, for the writers of formats; none if the trace does not have the text. */
static inline struct step_bytes trace_text_bytes(struct trace_text text)
{
    return step_text(text.unshown != NULL ? text.unshown : "");
}

/* For a terminal: escaped as by step_show(). */
static inline void trace_text_print(struct trace_text text, FILE *out)
{
    print_shown(trace_text_bytes(text), out);
}

/* For CSV: a field with its quotes, escaped likewise. */
static inline void trace_text_put_csv(struct trace_text text, FILE *out)
{
    csv_put_shown_text(trace_text_bytes(text), out);
}

/* For JSON, which is that of HTML pages, too: no character of it ends a script. */
static inline void trace_text_put_json(struct trace_text text, struct json_output *json,
                                       const char *key)
{
    json_bytes(json, key, trace_text_bytes(text));
}

#endif
