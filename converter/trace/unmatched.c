/* SPDX-License-Identifier: Apache-2.0 */
/* Searches all names once for each pattern; there are at most 16 patterns per criterion. */
#include "converter/trace/unmatched.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/cli/arguments.h"
#include "converter/cli/error_report.h"
#include "converter/trace/open_phases.h"
#include "converter/trace/trace_filter.h"

enum { WORD_ROOM = 256, SHOWN = 4 };

/* ---- the most similar name ---- */

/* Words to compare patterns with, each allocated separately. */
struct words {
    char **items;
    size_t count;
};

static bool begin_words(struct words *words, size_t most)
{
    *words = (struct words){.items = malloc((most + 1) * sizeof(char *))};
    return words->items != NULL;
}

static void add_word(struct words *words, const char *text)
{
    char *copy = strdup(text);
    if (copy != NULL)
        words->items[words->count++] = copy;
}

/* Replaces `.` by `/`, as in class names. */
static void with_slashes(const char *from, char *to, size_t room)
{
    snprintf(to, room, "%s", from);
    for (char *at = to; *at != '\0'; at++)
        *at = *at == '.' ? '/' : *at;
}

/* The reverse, as far as `typed` has dots: all, or the one before a method. */
static void as_typed(const char *typed, char *word)
{
    char *slash;
    bool has_slashes = strchr(typed, '/') != NULL;
    if (strchr(typed, '.') == NULL)
        return;
    while ((slash = strrchr(word, '/')) != NULL) {
        *slash = '.';
        if (has_slashes)
            return;
    }
}

/* Writes "; did you mean WORD?", and frees the words. */
static void suggest(struct words *words, const char *typed, bool of_classes, char *text,
                    size_t room)
{
    char form[WORD_ROOM];
    text[0] = '\0';
    if (of_classes)
        with_slashes(typed, form, sizeof form);
    else
        snprintf(form, sizeof form, "%s", typed);
    const char *nearest = strpbrk(typed, "*?") == NULL && strlen(typed) < WORD_ROOM
                              ? nearest_word(form, (const char *const *) words->items, words->count)
                              : NULL;
    if (nearest != NULL) {
        snprintf(form, sizeof form, "%s", nearest);
        as_typed(typed, form);
        snprintf(text, room, "; did you mean '%s'?", form);
    }
    for (size_t i = 0; i < words->count; i++)
        free(words->items[i]);
    free(words->items);
}

static bool is_simple(const char *glob)
{
    return strpbrk(glob, "./*?:") == NULL;
}

/* Adds the class name in Java syntax, without its package for a simple pattern. */
static void add_class_word(struct words *words, struct step_bytes name, bool simple)
{
    char text[WORD_ROOM];
    struct step_bytes form = trace_class_java_name(name, text, sizeof text - 1);
    if (form.length == 0 || form.length >= sizeof text)
        return;
    memmove(text, form.data, form.length);
    text[form.length] = '\0';
    const char *slash = simple ? strrchr(text, '/') : NULL;
    add_word(words, slash != NULL ? slash + 1 : text);
}

void nearest_class(const char *glob, const struct step_bytes *classes, size_t count, char *text,
                   size_t room)
{
    struct words words;
    text[0] = '\0';
    if (!begin_words(&words, count))
        return;
    for (size_t i = 0; i < count; i++)
        add_class_word(&words, classes[i], is_simple(glob));
    suggest(&words, glob, true, text, room);
}

/* Returns an upper bound. */
static size_t count_of(const struct id_table *table)
{
    size_t count = 0;
    for (uint32_t id = 0; id_table_next(table, &id); id++)
        count++;
    return count;
}

/* ---- classes ---- */

static void report_classes(const char *path, const struct trace_names *names, const char *glob)
{
    char text[WORD_ROOM + 32];
    const char *pattern = glob + (glob[0] == '!');
    size_t count = count_of(&names->classes), known = 0;
    struct step_bytes *all = malloc((count + 1) * sizeof *all);
    for (uint32_t id = 0; all != NULL && id_table_next(&names->classes, &id); id++)
        if (trace_class_of(names, id)->known)
            all[known++] = trace_class_of(names, id)->name;
    if (known > 0) {
        nearest_class(pattern, all, known, text, sizeof text);
        report_line("%s: no class matches '%s'%s", path, pattern, text);
    }
    free(all);
}

/* Classes of several loaders may have the same name. */
static void report_ambiguous(const char *path, const struct trace_names *names, const char *glob)
{
    const char *pattern = glob + (glob[0] == '!');
    struct step_bytes found[SHOWN];
    char text[SHOWN * WORD_ROOM] = "";
    size_t count = 0, used = 0;
    for (uint32_t id = 0; count < SHOWN && id_table_next(&names->classes, &id); id++) {
        const struct step_bytes *name = &trace_class_of(names, id)->name;
        bool is_new = trace_class_of(names, id)->known && trace_class_name_matches(name, pattern);
        for (size_t i = 0; is_new && i < count; i++)
            is_new = found[i].length != name->length ||
                     memcmp(found[i].data, name->data, name->length) != 0;
        if (!is_new)
            continue;
        found[count++] = *name;
        used += (size_t) snprintf(text + used, sizeof text - used, "%s%.*s", count > 1 ? ", " : "",
                                  (int) (name->length < 200 ? name->length : 200),
                                  (const char *) name->data);
    }
    if (count > 1)
        report_line("%s: '%s' matches more than one class: %s%s", path, pattern, text,
                    count == SHOWN ? ", ..." : "");
}

/* ---- threads, sites, methods ---- */

static void report_threads(const char *path, const struct trace_names *names, const char *glob)
{
    struct words words;
    char text[WORD_ROOM + 32] = "", word[WORD_ROOM];
    const char *pattern = glob + (glob[0] == '!');
    if (!begin_words(&words, count_of(&names->threads)))
        return;
    for (uint32_t id = 0; id_table_next(&names->threads, &id); id++) {
        struct step_bytes name = trace_thread_of(names, id)->name;
        if (!trace_thread_of(names, id)->known)
            continue;
        snprintf(word, sizeof word, "%.*s", (int) name.length,
                 name.data != NULL ? (const char *) name.data : "");
        add_word(&words, word);
    }
    suggest(&words, pattern, false, text, sizeof text);
    report_line("%s: no thread matches '%s'%s", path, pattern, text);
}

static void report_phases(const char *path, const struct trace_names *names, const char *glob)
{
    struct words words;
    char text[WORD_ROOM + 32] = "", word[WORD_ROOM];
    const char *pattern = glob + (glob[0] == '!');
    size_t count = count_of(&names->phases);
    if (count == 0) {
        report_line("%s: no phase matches '%s': the trace has none (docs/phases.md)", path,
                    pattern);
        return;
    }
    if (!begin_words(&words, count))
        return;
    for (uint32_t id = 0; id_table_next(&names->phases, &id); id++) {
        const struct trace_phase_name *phase = id_table_find(&names->phases, id);
        snprintf(word, sizeof word, "%.*s", (int) phase->name.length,
                 phase->known ? (const char *) phase->name.data : "");
        if (phase->known)
            add_word(&words, word);
    }
    suggest(&words, pattern, false, text, sizeof text);
    report_line("%s: no phase matches '%s'%s", path, pattern, text);
}

static void report_methods(const char *path, const struct trace_names *names, const char *glob)
{
    struct words words;
    char text[WORD_ROOM + 32] = "", word[WORD_ROOM];
    const char *pattern = glob + (glob[0] == '!');
    size_t count = count_of(&names->methods);
    if (count == 0) {
        report_line("%s: no method matches '%s': the trace names none", path, pattern);
        return;
    }
    if (!begin_words(&words, count))
        return;
    for (uint32_t id = 0; id_table_next(&names->methods, &id); id++) {
        const struct trace_method *method = trace_method_of(names, id);
        struct step_bytes class = trace_class_of(names, method->class_id)->name;
        if (!method->known || class.length + method->name.length + 2 > sizeof word)
            continue;
        snprintf(word, sizeof word, "%.*s/%.*s", (int) class.length, (const char *) class.data,
                 (int) method->name.length, (const char *) method->name.data);
        add_word(&words, word);
    }
    suggest(&words, pattern, true, text, sizeof text);
    report_line("%s: no method matches '%s'%s", path, pattern, text);
}

/* ---- all criteria ---- */

typedef void (*reporter)(const char *path, const struct trace_names *names, const char *glob);

static void report_each(const char *path, const struct trace_names *names,
                        const struct selected_globs *globs, uint32_t matched, reporter report)
{
    for (unsigned i = 0; i < globs->count; i++)
        if ((matched >> i & 1) == 0)
            report(path, names, globs->items[i]);
}

static uint32_t classes_mask(const struct trace_names *names, const struct selected_globs *globs)
{
    uint32_t mask = 0;
    for (uint32_t id = 0; globs->count > 0 && id_table_next(&names->classes, &id); id++)
        if (trace_class_of(names, id)->known)
            mask |= selected_globs_mask(globs, trace_class_name_matches,
                                        &trace_class_of(names, id)->name);
    return mask;
}

/* Includes thread 0, the VM. */
static uint32_t threads_mask(const struct trace_names *names, const struct selected_globs *globs)
{
    uint32_t mask = trace_filter_thread_mask(names, globs, 0);
    for (uint32_t id = 1; globs->count > 0 && id_table_next(&names->threads, &id); id++)
        if (trace_thread_of(names, id)->known)
            mask |= trace_filter_thread_mask(names, globs, id);
    return mask;
}

static uint32_t phases_mask(const struct trace_names *names, const struct selected_globs *globs)
{
    uint32_t mask = 0;
    for (uint32_t id = 0; globs->count > 0 && id_table_next(&names->phases, &id); id++) {
        const struct trace_phase_name *phase = id_table_find(&names->phases, id);
        if (phase->known)
            mask |= phase_name_mask(globs, phase->name);
    }
    return mask;
}

static uint32_t places_mask(const struct trace_names *names, const struct selected_globs *globs)
{
    uint32_t mask = 0;
    for (uint32_t id = 0; globs->count > 0 && id_table_next(&names->methods, &id); id++)
        if (trace_method_of(names, id)->known)
            mask |= trace_filter_frame_mask(names, globs, id, 0);
    for (uint32_t id = 0; globs->count > 0 && id_table_next(&names->frames, &id); id++) {
        const struct trace_frame *frame = trace_frame_of(names, id);
        if (frame->known && frame->line != 0)
            mask |= trace_filter_frame_mask(names, globs, frame->method_id, frame->line);
    }
    return mask;
}

void report_unmatched(const char *path, const struct trace_names *names,
                      const struct event_selection *selected, bool is_empty)
{
    const struct selected_globs *classes = &selected->classes, *threads = &selected->threads;
    const struct selected_globs *sites = &selected->sites, *methods = &selected->methods;
    report_each(path, names, classes, classes_mask(names, classes), report_classes);
    if (is_empty || count_of(&names->threads) > 0) /* threads of native programs have no names */
        report_each(path, names, threads, threads_mask(names, threads), report_threads);
    if (!selected->marks_phases)
        report_each(path, names, &selected->phases, phases_mask(names, &selected->phases),
                    report_phases);
    report_each(path, names, sites, places_mask(names, sites), report_methods);
    report_each(path, names, methods, places_mask(names, methods), report_methods);
    for (unsigned i = 0; i < classes->count; i++)
        if (is_simple(classes->items[i]))
            report_ambiguous(path, names, classes->items[i]);
}

/* Returns whether all patterns that select are in the mask of those that match. */
static bool is_each_matched(const struct selected_globs *globs, uint32_t matched)
{
    for (unsigned i = 0; i < globs->count; i++)
        if (globs->items[i][0] != '!' && (matched >> i & 1) == 0)
            return false;
    return true;
}

bool selection_is_matched(const struct trace_names *names, const struct event_selection *selected,
                          bool is_empty)
{
    const struct selected_globs *classes = &selected->classes, *threads = &selected->threads;
    const struct selected_globs *sites = &selected->sites, *methods = &selected->methods;
    const struct selected_globs *phases = &selected->phases;
    return is_each_matched(classes, classes_mask(names, classes)) &&
           ((!is_empty && count_of(&names->threads) == 0) ||
            is_each_matched(threads, threads_mask(names, threads))) &&
           (selected->marks_phases || is_each_matched(phases, phases_mask(names, phases))) &&
           is_each_matched(sites, places_mask(names, sites)) &&
           is_each_matched(methods, places_mask(names, methods));
}
