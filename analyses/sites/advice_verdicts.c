/* SPDX-License-Identifier: Apache-2.0 */
/* Advice as verdicts, each at the line of the program's source that allocates. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyses/sites/site_report.h"
#include "converter/cli/error_report.h"
#include "converter/cli/table_text.h"
#include "converter/verdicts/verdict.h"

/* Where build tools have sources, below the current directory. */
static const char *const roots[] = {"src/main/java/",
                                    "src/main/kotlin/",
                                    "src/test/java/",
                                    "src/test/kotlin/",
                                    "src/",
                                    "test/",
                                    ""};

/* A path in a trace leads nowhere else. */
static bool is_below(const char *path)
{
    return *path != '/' && strncmp(path, "../", 3) != 0 && strstr(path, "/../") == NULL;
}

/* Writes the path of a file that is there.  Returns false if none is. */
static bool advice_find_source(const char *path, char *out, size_t out_size)
{
    for (size_t i = 0; is_below(path) && i < sizeof roots / sizeof roots[0]; i++) {
        int length = snprintf(out, out_size, "%s%s", roots[i], path);
        if (length > 0 && (size_t) length < out_size && access(out, R_OK) == 0)
            return true;
    }
    return false;
}

/* Writes "com/acme/Shop.java" for com/acme/Shop$Item, if no file is known.  Returns its length; 0
 * if there is no room. */
static size_t advice_guess_path(struct step_bytes class_name, char *out, size_t out_size)
{
    const char *dollar = memchr(class_name.data, '$', class_name.length);
    size_t length =
        dollar != NULL ? (size_t) (dollar - (const char *) class_name.data) : class_name.length;
    if (length == 0 || length + sizeof ".java" > out_size)
        return 0;
    memcpy(out, class_name.data, length);
    memcpy(out + length, ".java", sizeof ".java");
    return strlen(out);
}

/* Sets file and line to those of the innermost frame whose source is there; else to those of the
 * innermost frame that has any, as seen from its root.  Returns false if out of memory. */
static bool advice_place(const struct trace_names *names, uint32_t frame, struct verdict *verdict)
{
    char path[PATH_MAX], found[PATH_MAX + 32], first[PATH_MAX] = "";
    bool is_found = false;
    for (; frame != 0 && !is_found; frame = trace_frame_of(names, frame)->parent) {
        const struct trace_frame *at = trace_frame_of(names, frame);
        const struct frame_place place = trace_place(names, at->method_id, at->line, at->bytecode);
        uint32_t class_id = trace_method_of(names, at->method_id)->class_id;
        if (at->line == 0)
            continue;
        bool is_known = trace_source_path(names, class_id, &place, path, sizeof path) > 0;
        if (!is_known &&
            advice_guess_path(trace_class_of(names, class_id)->name, path, sizeof path) == 0)
            continue;
        is_found = advice_find_source(path, found, sizeof found);
        if (!is_found && (!is_known || *first != '\0' || !is_below(path)))
            continue;
        memcpy(first, path, sizeof first);
        verdict->line = place.line;
    }
    if (!is_found && *first == '\0')
        return true;
    verdict->file = strdup(is_found ? found : first);
    return verdict->file != NULL;
}

/* Returns "pretenure: [B, Shop.order(Shop.java:12)", or NULL if out of memory. */
static char *advice_name(const struct site_report *report, const struct advice *advice)
{
    const struct site_life *life = &report->lives->items[advice->site];
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);
    if (stream == NULL)
        return NULL;
    fprintf(stream, "%s: ", advice_words[advice->kind]);
    print_shown(trace_class_of(report->sites->names, life->key.class_id)->name, stream);
    if (life->key.stack_id != 0) {
        char frame[HEAP_SITE_TEXT];
        uint32_t site = heap_sites_of_frame(report->sites, life->key.stack_id);
        size_t frame_length = heap_site_print(report->sites, site, frame, sizeof frame);
        fputs(", ", stream);
        print_shown((struct step_bytes){(const uint8_t *) frame, frame_length}, stream);
    }
    return fclose(stream) == 0 ? text : NULL;
}

static char *advice_text(const struct site_report *report, const struct advice *advice)
{
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);
    if (stream == NULL)
        return NULL;
    fprintf(stream, "  %s at stake: ", quantity_of_bytes((double) advice->bytes).text);
    advice_print_evidence(report, advice, stream);
    fputc('\n', stream);
    return fclose(stream) == 0 ? text : NULL;
}

bool advice_verdicts_add(const struct site_report *report, struct verdict_list *list)
{
    size_t shown = table_shown(report->top, report->advice->count);
    for (size_t i = 0; i < shown; i++) {
        const struct advice *advice = &report->advice->items[i];
        struct verdict *verdict = verdict_list_add(list);
        if (verdict == NULL)
            return false;
        verdict->state = VERDICT_ADVICE;
        verdict->kind = advice_words[advice->kind];
        verdict->name = advice_name(report, advice);
        verdict->text = advice_text(report, advice);
        if (verdict->name == NULL || verdict->text == NULL ||
            !advice_place(report->sites->names, report->lives->items[advice->site].key.stack_id,
                          verdict))
            return false;
    }
    return true;
}
