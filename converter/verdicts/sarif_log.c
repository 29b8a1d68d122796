/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes verdicts as SARIF 2.1.0 (OASIS, Static Analysis Results Interchange Format), which GitHub
 * code scanning and editors show at their lines.  A rule of the log is the kind of a verdict.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "converter/verdicts/review.h"
#include "converter/verdicts/verdict.h"
#include "format/json/json_output.h"

#define SARIF_SCHEMA                                                                               \
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
#define SARIF_BASE "%SRCROOT%" /* the directory that reviewers know */

/* Writes the path as a reference of RFC 3986: any byte but those that are plain in paths is in
 * percent notation. */
static void sarif_uri(const char *path, char *out, size_t out_size)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-._~/";
    size_t used = (size_t) snprintf(out, out_size, "%s", *path == '/' ? "file://" : "");
    for (; *path != '\0' && used + 4 < out_size; path++)
        used += (size_t) snprintf(out + used, out_size - used,
                                  strchr(plain, *path) != NULL ? "%c" : "%%%02X",
                                  (unsigned char) *path);
}

static void sarif_place(const struct verdict *verdict, struct json_output *json)
{
    char path[PATH_MAX], uri[3 * PATH_MAX + 8];
    json_begin_array(json, "locations");
    json_begin_object(json, NULL);
    json_begin_object(json, "physicalLocation");
    json_begin_object(json, "artifactLocation");
    verdict_path(verdict, path, sizeof path);
    sarif_uri(path, uri, sizeof uri);
    json_text(json, "uri", uri);
    if (*path != '/')
        json_text(json, "uriBaseId", SARIF_BASE);
    json_end_object(json);
    if (verdict->line != 0) {
        json_begin_object(json, "region");
        json_number(json, "startLine", verdict->line);
        json_end_object(json);
    }
    json_end_object(json);
    json_end_object(json);
    json_end_array(json);
}

/* Writes a text in which nothing is an embedded link, `[text](target)`: its closing bracket is
 * escaped. */
static void sarif_put_literal(const char *text, FILE *out)
{
    for (; *text != '\0'; text++) {
        if (text[0] == ']' && text[1] == '(')
            fputc('\\', out);
        fputc(*text, out);
    }
}

/* Writes a message of one or two texts, the second of which may be NULL. */
static bool sarif_message(const char *key, const char *text, const char *more,
                          struct json_output *json)
{
    char *whole = NULL;
    size_t length;
    FILE *stream = open_memstream(&whole, &length);
    if (stream == NULL)
        return false;
    sarif_put_literal(text, stream);
    if (more != NULL) {
        fputc('\n', stream);
        sarif_put_literal(more, stream);
    }
    bool ok = fclose(stream) == 0;
    json_begin_object(json, key);
    json_bytes(json, "text", (struct step_bytes){(const uint8_t *) whole, ok ? length : 0});
    json_end_object(json);
    free(whole);
    return ok;
}

/* The rules of a log: kinds of verdicts, in order of first appearance. */
#define SARIF_KINDS_MOST 32u

struct sarif_kinds {
    const char *items[SARIF_KINDS_MOST];
    size_t count;
};

/* Returns the number of a kind, which is added if it is new and there is room. */
static size_t sarif_kinds_number(struct sarif_kinds *kinds, const char *kind)
{
    size_t at = 0;
    while (at < kinds->count && strcmp(kinds->items[at], kind) != 0)
        at++;
    if (at == kinds->count && at < SARIF_KINDS_MOST)
        kinds->items[kinds->count++] = kind;
    return at;
}

static bool sarif_rules(const struct verdict_list *list, struct sarif_kinds *kinds,
                        struct json_output *json)
{
    char text[128];
    bool ok = true;
    for (size_t i = 0; i < list->count; i++)
        if (verdict_is_shown(&list->items[i]))
            sarif_kinds_number(kinds, list->items[i].kind);
    json_begin_array(json, "rules");
    for (size_t i = 0; i < kinds->count; i++) {
        json_begin_object(json, NULL);
        snprintf(text, sizeof text, "steptrace/%s", kinds->items[i]);
        json_text(json, "id", text);
        snprintf(text, sizeof text, "steptrace %s: %s", list->verb, kinds->items[i]);
        ok = sarif_message("shortDescription", text, NULL, json) && ok;
        json_end_object(json);
    }
    json_end_array(json);
    return ok;
}

static bool sarif_result(const struct verdict *verdict, struct sarif_kinds *kinds,
                         struct json_output *json)
{
    char text[128];
    json_begin_object(json, NULL);
    snprintf(text, sizeof text, "steptrace/%s", verdict->kind);
    json_text(json, "ruleId", text);
    json_number(json, "ruleIndex", sarif_kinds_number(kinds, verdict->kind));
    json_text(json, "level", verdict->state == VERDICT_ADVICE ? "note" : "error");
    bool ok = sarif_message("message", verdict->name, verdict->text, json);
    if (verdict->file != NULL)
        sarif_place(verdict, json);
    json_begin_object(json, "partialFingerprints");
    snprintf(text, sizeof text, "%016" PRIx64, verdict->print);
    json_text(json, "steptrace/v1", text);
    json_end_object(json);
    json_end_object(json);
    return ok;
}

bool sarif_log_print(const void *user, FILE *out)
{
    const struct verdict_list *list = user;
    struct sarif_kinds kinds = {.count = 0};
    struct json_output json;
    json_open(&json, out);
    json_text(&json, "$schema", SARIF_SCHEMA);
    json_text(&json, "version", "2.1.0");
    json_begin_array(&json, "runs");
    json_begin_object(&json, NULL);
    json_begin_object(&json, "tool");
    json_begin_object(&json, "driver");
    json_text(&json, "name", "StepTrace");
    json_text(&json, "version", STEPTRACE_VERSION);
    bool ok = sarif_rules(list, &kinds, &json);
    json_end_object(&json);
    json_end_object(&json);
    json_begin_array(&json, "results");
    for (size_t i = 0; ok && i < list->count; i++)
        ok = !verdict_is_shown(&list->items[i]) || sarif_result(&list->items[i], &kinds, &json);
    json_end_array(&json);
    json_end_object(&json);
    json_end_array(&json);
    json_close(&json);
    return ok;
}
