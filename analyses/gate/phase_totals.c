/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts in one pass, by class and set of open phases, as most events have few combinations, and
 * adds these up by phase and name of class when all names are known.
 */
#include "analyses/gate/phase_totals.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/gate/source_name.h"
#include "converter/containers/name_index.h"
#include "converter/containers/no_memory.h"
#include "converter/files/trace_gap.h"
#include "converter/formats/input.h"
#include "converter/trace/missed_objects.h"
#include "converter/trace/open_phases.h"
#include "converter/trace/unmatched.h"
#include "format/core/grow.h"

#define PHASE_CLASSES_SHOWN 3u
#define PHASE_NO_NAME "(no name)"
#define PHASE_FRAMES_LEAST 64u
#define PHASE_WHOLE 0u /* its number, if the whole program is one */

static const char *const once[] = {"!java.lang.ClassLoader.loadClass",
                                   "!java.lang.invoke.MethodHandleNatives.*", "!**.$jacocoInit"};
#define ONCE_COUNT ((unsigned) (sizeof once / sizeof once[0]))

void phase_counting_init(struct phase_counting *counting)
{
    *counting = (struct phase_counting){.whole = NULL};
    event_selection_init(&counting->selected);
    counting->selected.needs_all = "gate";
    for (size_t i = 0; i < ONCE_COUNT; i++)
        counting->selected.sites.items[counting->selected.sites.count++] = once[i];
}

/* ---- sums by pairs of numbers ---- */

struct pair_sum {
    uint64_t objects, bytes;
};

/* Zero-initialise. */
struct pair_sums {
    struct name_index index; /* by both numbers */
    struct pair_sum *items;  /* by id in the index */
    size_t capacity;
};

static void pair_sums_reset(struct pair_sums *sums)
{
    name_index_reset(&sums->index);
    free(sums->items);
}

static bool pair_sums_add(struct pair_sums *sums, uint32_t first, uint32_t second,
                          const struct pair_sum *more)
{
    bool is_new;
    uint32_t id = name_index_put(&sums->index, (uint64_t) first << 32 | second,
                                 (struct step_bytes){NULL, 0}, &is_new);
    if (id == 0 || !STEP_MAKE_ZEROED_ROOM(sums->items, sums->capacity, (size_t) id + 1))
        return false;
    sums->items[id].objects += more->objects;
    sums->items[id].bytes += more->bytes;
    return true;
}

static uint32_t pair_first(const struct pair_sums *sums, uint32_t id)
{
    return (uint32_t) (sums->index.entries[id].number >> 32);
}

static uint32_t pair_second(const struct pair_sums *sums, uint32_t id)
{
    return (uint32_t) sums->index.entries[id].number;
}

/* ---- the pass ---- */

struct phase_pass {
    const struct phase_counting *counting;
    struct input input;
    struct pair_sums by_set;     /* set of phases, class */
    struct pair_sums by_phase;   /* phase, name of its class */
    struct name_index classes;   /* names of classes */
    struct id_table class_names; /* uint32_t by class: its name */
    struct id_table phases;      /* uint8_t by phase: it is one to count */
    bool lacks_sizes;
};

static enum step_status phase_totals_put(void *user, const struct trace_event *events, size_t count,
                                         struct step_error *error)
{
    struct phase_pass *pass = user;
    for (size_t i = 0; i < count; i++) {
        const struct trace_event *event = &events[i];
        const struct pair_sum one = {1, event->size};
        if (event->kind != EVENT_OBJECT_ALLOC || (event->flags & TRACE_EXISTING) != 0)
            continue;
        pass->lacks_sizes |= event->size == 0;
        if (!pair_sums_add(&pass->by_set, pass->counting->whole == NULL ? event->phase_set : 0,
                           event->class_id, &one))
            return no_memory(error);
    }
    return STEP_STATUS_OK;
}

static enum step_status phase_totals_see(void *user, const struct trace_phase *phase)
{
    struct phase_pass *pass = user;
    const struct selected_globs *globs = &pass->counting->selected.phases;
    uint8_t *counts = id_table_get(&pass->phases, phase->number);
    if (counts == NULL)
        return STEP_STATUS_NO_MEMORY;
    *counts =
        globs->count == 0 || selected_globs_accept(globs, phase_name_mask(globs, phase->name));
    return STEP_STATUS_OK;
}

/* ---- sums by phase ---- */

/* Returns the number of the class's name; 0 if out of memory. */
static uint32_t phase_class_name(struct phase_pass *pass, uint32_t class_id)
{
    uint32_t *number = id_table_get(&pass->class_names, class_id);
    if (number == NULL || *number != 0)
        return number == NULL ? 0 : *number;
    char *name = source_name_of(trace_class_of(&pass->input.source->names, class_id)->name);
    bool is_new;
    if (name != NULL)
        *number = name_index_put(&pass->classes, 0, step_text(name), &is_new);
    free(name);
    return *number;
}

static bool phase_totals_fold_set(struct phase_pass *pass, uint32_t set, uint32_t class_name,
                                  const struct pair_sum *sum)
{
    const struct phase_sets *sets = &pass->input.source->names.phases_open;
    if (pass->counting->whole != NULL)
        return pair_sums_add(&pass->by_phase, PHASE_WHOLE, class_name, sum);
    bool ok = true;
    while (ok && set != 0) {
        uint32_t phase = phase_sets_take(sets, &set);
        const uint8_t *counts = id_table_find(&pass->phases, phase);
        if (counts != NULL && *counts != 0)
            ok = pair_sums_add(&pass->by_phase, phase, class_name, sum);
    }
    return ok;
}

static bool phase_totals_fold(struct phase_pass *pass)
{
    bool ok = true;
    for (uint32_t id = 1; ok && id <= pass->by_set.index.count; id++) {
        uint32_t class_name = phase_class_name(pass, pair_second(&pass->by_set, id));
        ok = class_name != 0 && phase_totals_fold_set(pass, pair_first(&pass->by_set, id),
                                                      class_name, &pass->by_set.items[id]);
    }
    return ok;
}

/* ---- lines ---- */

struct phase_row {
    const char *class_name; /* as source_name_of() has it */
    struct pair_sum sum;
};

/* Most bytes first, then by name. */
static bool phase_row_is_before(const struct phase_row *a, const struct phase_row *b)
{
    return a->sum.bytes != b->sum.bytes ? a->sum.bytes > b->sum.bytes
                                        : strcmp(a->class_name, b->class_name) < 0;
}

struct phase_line {
    struct pair_sum all;
    struct phase_row rows[PHASE_CLASSES_SHOWN];
    size_t count;
    bool is_there;
};

static void phase_line_add(struct phase_line *line, const struct phase_row *row)
{
    size_t at = line->count;
    line->all.objects += row->sum.objects;
    line->all.bytes += row->sum.bytes;
    while (at > 0 && phase_row_is_before(row, &line->rows[at - 1]))
        at--;
    if (at == PHASE_CLASSES_SHOWN)
        return;
    line->count += line->count < PHASE_CLASSES_SHOWN;
    memmove(&line->rows[at + 1], &line->rows[at], (line->count - at - 1) * sizeof *row);
    line->rows[at] = *row;
}

static void phase_line_print(const struct phase_line *line, FILE *out)
{
    fprintf(out, "%" PRIu64 " object%s, %" PRIu64 " bytes", line->all.objects,
            line->all.objects == 1 ? "" : "s", line->all.bytes);
    for (size_t i = 0; i < line->count; i++)
        fprintf(out, "%s%" PRIu64 " %s", i == 0 ? ": " : ", ", line->rows[i].sum.objects,
                line->rows[i].class_name);
}

static int hex_digit(uint8_t c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns whether the text begins with an escape: "\x0a". */
static bool is_escape(const uint8_t *text, size_t length)
{
    return length >= 4 && text[0] == '\\' && text[1] == 'x' && hex_digit(text[2]) >= 0 &&
           hex_digit(text[3]) >= 0;
}

/* A line begins with the name: `#` would make it a comment. */
static bool is_first_escaped(struct step_bytes name)
{
    return name.length > 0 &&
           (name.data[0] == '#' || (name.length == sizeof PHASE_NO_NAME - 1 &&
                                    memcmp(name.data, PHASE_NO_NAME, name.length) == 0));
}

/* Different names are different texts, so what looks like an escape gets one. */
static void phase_name_print(struct step_bytes name, FILE *out)
{
    size_t shown = 0;
    if (name.length == 0)
        fputs(PHASE_NO_NAME, out);
    for (size_t i = 0; i < name.length; i++) {
        if ((i > 0 || !is_first_escaped(name)) && !is_escape(name.data + i, name.length - i))
            continue;
        print_shown((struct step_bytes){name.data + shown, i - shown}, out);
        fprintf(out, "\\x%02x", name.data[i]);
        shown = i + 1;
    }
    print_shown((struct step_bytes){name.data + shown, name.length - shown}, out);
}

char *phase_name_of_line(const char *name)
{
    char *text = strdup(strcmp(name, PHASE_NO_NAME) == 0 ? "" : name), *to = text;
    for (const char *at = text; at != NULL && *at != '\0';) {
        const uint8_t *byte = (const uint8_t *) at;
        bool escaped = is_escape(byte, strlen(at));
        *to++ = escaped ? (char) (hex_digit(byte[2]) << 4 | hex_digit(byte[3])) : *at;
        at += escaped ? 4 : 1;
    }
    if (to != NULL)
        *to = '\0';
    return text;
}

/* Returns what is printed, or NULL if out of memory. */
static char *phase_line_text(const struct phase_line *line, const struct step_bytes *name)
{
    char *text = NULL;
    size_t length;
    FILE *stream = open_memstream(&text, &length);
    if (stream == NULL)
        return NULL;
    if (line != NULL)
        phase_line_print(line, stream);
    else
        phase_name_print(*name, stream);
    if (fclose(stream) == 0)
        return text;
    free(text);
    return NULL;
}

static bool phase_totals_append(struct phase_totals *counts, const struct phase_line *line,
                                struct step_bytes name, unsigned jdk, const char *path)
{
    if (!STEP_MAKE_ROOM(counts->items, counts->capacity, counts->count + 1))
        return false;
    struct phase_total *count = &counts->items[counts->count];
    *count = (struct phase_total){.name = phase_line_text(NULL, &name),
                                  .text = phase_line_text(line, NULL),
                                  .objects = line->all.objects,
                                  .bytes = line->all.bytes,
                                  .jdk = jdk,
                                  .path = path};
    counts->count++;
    return count->name != NULL && count->text != NULL;
}

static const char *phase_name_of(const struct phase_pass *pass, uint32_t id)
{
    return (const char *) pass->classes.entries[pair_second(&pass->by_phase, id)].text.data;
}

/* Adds up rows into lines by phase, and appends those. */
static bool phase_totals_finish(struct phase_pass *pass, struct phase_totals *counts, unsigned jdk,
                                const char *path)
{
    struct id_table lines; /* struct phase_line by phase */
    struct phase_line *line;
    const uint8_t *is_counted;
    bool ok = true;
    id_table_init(&lines, sizeof(struct phase_line));
    for (uint32_t i = 0; ok && (is_counted = id_table_next(&pass->phases, &i)) != NULL; i++)
        if (*is_counted != 0) {
            line = id_table_get(&lines, i);
            ok = line != NULL;
            if (ok)
                line->is_there = true;
        }
    for (uint32_t id = 1; ok && id <= pass->by_phase.index.count; id++) {
        line = id_table_get(&lines, pair_first(&pass->by_phase, id));
        ok = line != NULL;
        if (ok)
            phase_line_add(line,
                           &(struct phase_row){phase_name_of(pass, id), pass->by_phase.items[id]});
    }
    for (uint32_t i = 0; ok && (line = id_table_next(&lines, &i)) != NULL; i++) {
        const struct trace_phase_name *name = id_table_find(&pass->input.source->names.phases, i);
        if (line->is_there)
            ok = phase_totals_append(counts, line,
                                     i == PHASE_WHOLE && pass->counting->whole != NULL
                                         ? step_text(pass->counting->whole)
                                     : name != NULL ? name->name
                                                    : (struct step_bytes){NULL, 0},
                                     jdk, path);
    }
    id_table_reset(&lines);
    return ok;
}

/* ---- the trace ---- */

/* Returns 17 of "17.0.13+11", and 0 of what is no version of a JDK 9 or later: the VM of JDK 8 is
 * "25.392-b08". */
static unsigned jdk_of(const struct input *input)
{
    const char *version = event_source_property(input->source, "java-vm-version").unshown;
    unsigned long number = 0;
    if (version != NULL && strchr(version, '+') != NULL)
        number = strtoul(version, NULL, 10);
    return number < 100000 ? (unsigned) number : 0;
}

/* Returns why the trace cannot be judged; NULL: it can. */
static const char *phase_totals_lack(const struct input *input, unsigned jdk)
{
    if (input->allocs != NULL)
        return "a trace of a native program has no phases";
    if ((event_source_not_recorded(input->source) & TRACE_KIND_BIT(EVENT_OBJECT_ALLOC)) != 0)
        return "a trace without allocations (the agent's option events=alloc)";
    const char *early = trace_gap_any_early(event_source_property(input->source, "end").unshown);
    if (early != NULL)
        return early;
    const char *engine = event_source_property(input->source, "engine").unshown;
    if (engine != NULL && strcmp(engine, "jvmti") == 0)
        return "engine=jvmti does not see what the JIT compiler removes";
    return jdk == 0 ? "it does not say the version of its JDK (the property java-vm-version)"
                    : NULL;
}

/* The same of what is counted.  Without --phase, each phase is. */
static const char *phase_totals_missed(const struct phase_pass *pass)
{
    const struct selected_globs none = {.count = 0};
    const struct selected_globs *phases = &pass->counting->selected.phases;
    return missed_objects_of(pass->input.source, pass->counting->whole != NULL ? &none
                                                 : phases->count == 0          ? NULL
                                                                               : phases);
}

/* Reports patterns that match nothing: a misspelt one must not make a gate pass.  Those that the
 * user did not give may. */
static enum step_status phase_totals_match(struct phase_pass *pass, const char *path)
{
    struct event_selection given = pass->counting->selected;
    const struct trace_names *names = &pass->input.source->names;
    given.sites.count -= ONCE_COUNT;
    memmove(given.sites.items, given.sites.items + ONCE_COUNT,
            given.sites.count * sizeof given.sites.items[0]);
    if (pass->counting->whole != NULL)
        given.phases.count = 0;
    report_unmatched(path, names, &given, pass->input.events == 0);
    pass->input.is_unmatched_reported = true;
    return selection_is_matched(names, &given, pass->input.events == 0) ? STEP_STATUS_OK
                                                                        : STEP_STATUS_CORRUPT;
}

/* What is called once is found in call stacks. */
static void phase_totals_report_stack(const struct input *input, const char *path)
{
    uint64_t frames = event_source_number(input->source, "stack", 0);
    if (frames < PHASE_FRAMES_LEAST)
        report_line("%s: call stacks of %" PRIu64 " frames: what the JVM does once may be counted "
                    "where they are deeper (the agent's option stack=%u)",
                    path, frames, PHASE_FRAMES_LEAST);
}

/* Verifies all blocks: those of other kinds are not read. */
static enum step_status phase_totals_verify(const struct input *input)
{
    struct trace_inventory inventory = {.records = NULL};
    enum step_status status = STEP_STATUS_OK;
    if (input->source->operations->inventory != NULL)
        status = input->source->operations->inventory(input->source, &inventory);
    free(inventory.records);
    free(inventory.is_event);
    return status;
}

static enum step_status phase_totals_read(struct phase_pass *pass, struct phase_totals *counts,
                                          const char *path)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    unsigned jdk = jdk_of(&pass->input);
    const char *lack = phase_totals_lack(&pass->input, jdk);
    if (lack != NULL)
        return report_unfit(path, lack);
    enum step_status status = phase_totals_verify(&pass->input);
    if (status == STEP_STATUS_OK && pass->counting->whole == NULL)
        status = event_source_phases(pass->input.source, phase_totals_see, pass, &error);
    if (status != STEP_STATUS_OK)
        return status == STEP_STATUS_NO_MEMORY ? report_no_memory() : report_error(&error);
    phase_totals_report_stack(&pass->input, path);
    status = input_each(&pass->input, phase_totals_put, pass);
    if (status != STEP_STATUS_OK)
        return status;
    uint8_t *whole =
        pass->counting->whole != NULL ? id_table_get(&pass->phases, PHASE_WHOLE) : NULL;
    if (whole != NULL)
        *whole = 1;
    lack = phase_totals_missed(pass);
    if (lack != NULL)
        return report_unfit(path, lack);
    if (pass->lacks_sizes)
        return report_unfit(path, "an object has no size" NO_SIZES);
    if (!phase_totals_fold(pass) || !phase_totals_finish(pass, counts, jdk, path))
        return report_no_memory();
    enum step_status matched = phase_totals_match(pass, path);
    status = input_report_damage(&pass->input);
    return status == STEP_STATUS_OK ? matched : status;
}

enum step_status phase_totals_add(struct phase_totals *counts, const char *path,
                                  const struct phase_counting *counting)
{
    struct phase_pass pass = {.counting = counting};
    struct event_selection selected = counting->selected;
    selected.kinds = TRACE_KIND_BIT(EVENT_OBJECT_ALLOC);
    selected.untracked = true;
    selected.names_phases = counting->whole == NULL;
    selected.phases.count = 0;
    enum step_status status = input_open(&pass.input, path, NULL, &selected);
    if (status != STEP_STATUS_OK)
        return status;
    id_table_init(&pass.class_names, sizeof(uint32_t));
    id_table_init(&pass.phases, sizeof(uint8_t));
    status = phase_totals_read(&pass, counts, path);
    input_close(&pass.input);
    pair_sums_reset(&pass.by_set);
    pair_sums_reset(&pass.by_phase);
    name_index_reset(&pass.classes);
    id_table_reset(&pass.class_names);
    id_table_reset(&pass.phases);
    return status;
}

void phase_totals_reset(struct phase_totals *counts)
{
    for (size_t i = 0; i < counts->count; i++) {
        free(counts->items[i].name);
        free(counts->items[i].text);
    }
    free(counts->items);
    *counts = (struct phase_totals){.items = NULL};
}
