/* SPDX-License-Identifier: Apache-2.0 */
/* Writes verdicts as a code quality report of GitLab: a JSON array, which merge requests show. */
#include <inttypes.h>
#include <limits.h>

#include "converter/verdicts/review.h"
#include "converter/verdicts/verdict.h"
#include "format/json/json_output.h"

/* An entry must have a path and a line. */
static void code_quality_place(const struct verdict *verdict, struct json_output *json)
{
    char path[PATH_MAX] = ".";
    if (verdict->file != NULL)
        verdict_path(verdict, path, sizeof path);
    json_begin_object(json, "location");
    json_bytes(json, "path", step_text(path));
    json_begin_object(json, "lines");
    json_number(json, "begin", verdict->line != 0 ? verdict->line : 1);
    json_end_object(json);
    json_end_object(json);
}

/* The description is one line of plain text. */
static void code_quality_put(const struct verdict *verdict, struct json_output *json)
{
    char text[4096];
    const struct step_bytes message = verdict_message(verdict);
    json_begin_object(json, NULL);
    snprintf(text, sizeof text, "steptrace/%s", verdict->kind);
    json_text(json, "check_name", text);
    snprintf(text, sizeof text, "%.1000s%s%.*s", verdict->name, verdict->text != NULL ? ": " : "",
             verdict->text == NULL   ? 0
             : message.length < 2000 ? (int) message.length
                                     : 2000,
             (const char *) message.data);
    json_bytes(json, "description", step_text(text));
    snprintf(text, sizeof text, "%016" PRIx64, verdict->print);
    json_text(json, "fingerprint", text);
    json_text(json, "severity", verdict->state == VERDICT_ADVICE ? "info" : "major");
    code_quality_place(verdict, json);
    json_end_object(json);
}

bool code_quality_print(const void *user, FILE *out)
{
    const struct verdict_list *list = user;
    struct json_output json;
    json_init(&json, out);
    json_begin_array(&json, NULL);
    for (size_t i = 0; i < list->count; i++)
        if (verdict_is_shown(&list->items[i]))
            code_quality_put(&list->items[i], &json);
    json_end_array(&json);
    fputc('\n', out);
    return true;
}
