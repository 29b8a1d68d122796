/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes Callgrind profiles (docs/formats/valgrind.md): of a heap, where a method's lines cost what
 * was allocated there and below, and each class is a function that these lines call; and of method
 * events, with the time and the number of calls.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "converter/cli/utf8_text.h"
#include "converter/containers/no_memory.h"
#include "converter/heap/heap_writer.h"
#include "converter/trace/call_events.h"
#include "converter/trace/trace_sink.h"
#include "format/core/grow.h"
#include "format/core/hash.h"

/* ---- a profile ---- */

/* A function is a method or a class; its number in the file is 1 + this. */
#define FUNCTION_OF_METHOD(id) ((uint64_t) (id) *2)
#define FUNCTION_OF_CLASS(id) ((uint64_t) (id) *2 + 1)
#define NO_CALLEE UINT64_MAX

/* Amounts of the profile's two events: bytes and objects, or time and calls. */
struct amounts {
    uint64_t first, second;
};

/* What a line of a function costs itself, or by calling `callee`.  What a class costs is at the
 * lines that allocate it, as the cost of code that is inlined from there. */
struct cost {
    uint64_t function, callee;
    uint32_t method_id; /* that the line is of; 0 for line 0 of a class */
    uint32_t line;
    uint64_t calls;
    struct amounts amounts;
};

struct profile {
    FILE *out;                       /* borrowed */
    const struct trace_names *names; /* borrowed */
    struct cost *costs;              /* by function, line and callee */
    size_t count, capacity;
    struct step_index index;
    struct id_table methods, classes; /* uint8_t: bits of enum named */
    bool omits_first;                 /* the trace does not have the first event's amounts */
};

enum named { NAMED_FUNCTION = 1, NAMED_FILE = 2 };

static void profile_init(struct profile *profile, FILE *out, const struct trace_names *names)
{
    *profile = (struct profile){.out = out, .names = names};
    id_table_init(&profile->methods, sizeof(uint8_t));
    id_table_init(&profile->classes, sizeof(uint8_t));
}

static void profile_reset(struct profile *profile)
{
    free(profile->costs);
    step_index_reset(&profile->index);
    id_table_reset(&profile->methods);
    id_table_reset(&profile->classes);
}

static int compare_costs(const void *left, const void *right)
{
    const struct cost *a = left, *b = right;
    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    if (a->method_id != b->method_id)
        return a->method_id < b->method_id ? -1 : 1;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    return (a->callee > b->callee) - (a->callee < b->callee);
}

/* Returns the cost with the key of `wanted`, new or not; NULL: out of memory. */
static struct cost *cost_of(struct profile *profile, const struct cost *wanted)
{
    uint64_t place = (uint64_t) wanted->method_id << 32 | wanted->line;
    uint64_t key = step_hash_join(step_hash_join(wanted->function, wanted->callee), place);
    uint32_t hash = (uint32_t) key, number;
    STEP_INDEX_EACH (&profile->index, hash, number)
        if (compare_costs(&profile->costs[number], wanted) == 0)
            return &profile->costs[number];
    if (!STEP_MAKE_ROOM(profile->costs, profile->capacity, profile->count + 1))
        return NULL;
    if (profile->count >= UINT32_MAX / 4 ||
        !step_index_add(&profile->index, hash, (uint32_t) profile->count))
        return NULL;
    profile->costs[profile->count] = *wanted;
    profile->costs[profile->count].calls = 0;
    profile->costs[profile->count].amounts = (struct amounts){0, 0};
    return &profile->costs[profile->count++];
}

static bool callgrind_add(struct profile *profile, const struct cost *wanted)
{
    struct cost *cost = cost_of(profile, wanted);
    if (cost == NULL)
        return false;
    cost->calls += wanted->calls;
    cost->amounts.first += wanted->amounts.first;
    cost->amounts.second += wanted->amounts.second;
    return true;
}

/* Adds a call by a method. */
static bool add_call(struct profile *profile, uint32_t method_id, uint32_t line, uint64_t callee,
                     uint64_t calls, struct amounts amounts)
{
    return callgrind_add(profile, &(struct cost){FUNCTION_OF_METHOD(method_id), callee, method_id,
                                                 line, calls, amounts});
}

static uint32_t callgrind_class_of(const struct profile *profile, uint64_t function)
{
    uint32_t id = (uint32_t) (function / 2);
    return function % 2 != 0 ? id : trace_method_of(profile->names, id)->class_id;
}

/* Writes "fn=(3) name"; the name only at first. */
static bool callgrind_put_name(struct profile *profile, const char *key, uint64_t number,
                               struct id_table *table, uint32_t id, enum named what)
{
    uint8_t *known = id_table_get(table, id);
    if (known == NULL)
        return false;
    fprintf(profile->out, "%s=(%" PRIu64 ")", key, number);
    if ((*known & what) == 0 && table == &profile->methods) {
        const struct trace_method *method = trace_method_of(profile->names, id);
        fputc(' ', profile->out);
        if (method->class_id != 0) {
            utf8_print_in_line(trace_class_of(profile->names, method->class_id)->name, 0,
                               profile->out);
            fputc('.', profile->out);
        }
        utf8_print_in_line(method->name, 0, profile->out);
        utf8_print_in_line(method->descriptor, 0, profile->out); /* overloads are not recursive */
    } else if ((*known & what) == 0) {
        fputc(' ', profile->out);
        utf8_print_in_line(trace_class_of(profile->names, id)->name, 0, profile->out);
    }
    fputc('\n', profile->out);
    *known |= (uint8_t) what;
    return true;
}

/* Writes a file's path, or the class's name where the path is empty. */
static bool put_file(struct profile *profile, const char *key, uint64_t function, const char *path)
{
    uint32_t class = callgrind_class_of(profile, function);
    if (path[0] == '\0')
        return callgrind_put_name(profile, key, (uint64_t) class + 1, &profile->classes, class,
                                  NAMED_FILE);
    fprintf(profile->out, "%s=", key);
    utf8_print_in_line(step_text(path), 0, profile->out);
    fputc('\n', profile->out);
    return true;
}

static bool put_function(struct profile *profile, const char *key, uint64_t function)
{
    struct id_table *table = function % 2 != 0 ? &profile->classes : &profile->methods;
    return callgrind_put_name(profile, key, function + 1, table, (uint32_t) (function / 2),
                              NAMED_FUNCTION);
}

static void put_amounts(struct profile *profile, const struct amounts *amounts)
{
    if (!profile->omits_first)
        fprintf(profile->out, " %" PRIu64, amounts->first);
    fprintf(profile->out, " %" PRIu64 "\n", amounts->second);
}

/* Sets the path of the source file ("" of a class, or if it is not known), and returns the line. */
static uint64_t set_place(const struct profile *profile, uint64_t function, uint32_t line,
                          char path[FRAME_TEXT])
{
    struct frame_place place = {.line = line};
    if (function % 2 == 0)
        place = trace_place(profile->names, (uint32_t) (function / 2), line, 0);
    trace_source_path(profile->names, callgrind_class_of(profile, function), &place, path,
                      FRAME_TEXT);
    return place.line;
}

static bool put_costs(struct profile *profile)
{
    uint64_t function = NO_CALLEE;
    char file[FRAME_TEXT] = "", path[FRAME_TEXT]; /* of the lines that follow; of one */
    uint32_t class = 0; /* which stands for the file of the lines that follow, if it has no path */
    bool ok = true;
    for (size_t i = 0; ok && !ferror(profile->out) && i < profile->count; i++) {
        const struct cost *cost = &profile->costs[i];
        if (cost->function != function) {
            fputc('\n', profile->out);
            function = cost->function;
            set_place(profile, function, 0, file);
            class = callgrind_class_of(profile, function);
            ok = put_file(profile, "fl", function, file) && put_function(profile, "fn", function);
        }
        uint64_t owner = cost->method_id != 0 ? FUNCTION_OF_METHOD(cost->method_id) : function;
        uint64_t line = set_place(profile, owner, cost->line, path);
        if (strcmp(path, file) != 0 ||
            (path[0] == '\0' && callgrind_class_of(profile, owner) != class))
            ok = ok && put_file(profile, "fi", owner, path);
        strcpy(file, path);
        class = callgrind_class_of(profile, owner);
        if (cost->callee != NO_CALLEE) {
            set_place(profile, cost->callee, 0, path);
            ok = ok && put_file(profile, "cfi", cost->callee, path) &&
                 put_function(profile, "cfn", cost->callee);
            fprintf(profile->out, "calls=%" PRIu64 " 0\n", cost->calls);
        }
        fprintf(profile->out, "%" PRIu64, line);
        put_amounts(profile, &cost->amounts);
    }
    return ok;
}

/* Writes the whole file.  `about` describes the part of the trace, `events` names the two. */
static bool callgrind_put_profile(struct profile *profile, struct trace_text title,
                                  uint64_t process, const char *about, const char *events)
{
    struct amounts total = {0, 0};
    for (size_t i = 0; i < profile->count; i++) {
        bool is_self = profile->costs[i].callee == NO_CALLEE;
        total.first += is_self ? profile->costs[i].amounts.first : 0;
        total.second += is_self ? profile->costs[i].amounts.second : 0;
    }
    if (profile->count > 0)
        qsort(profile->costs, profile->count, sizeof *profile->costs, compare_costs);
    fprintf(profile->out,
            "# callgrind format\nversion: 1\ncreator: steptrace\npid: %" PRIu64 "\ncmd: ", process);
    utf8_print_in_line(trace_text_bytes(trace_text_or(title, "java")), 0, profile->out);
    fprintf(profile->out,
            "\npart: 1\n\ndesc: Trigger: %s\npositions: line\nevents: %s\nsummary:", about, events);
    put_amounts(profile, &total);
    bool ok = put_costs(profile);
    fprintf(profile->out, "\ntotals:");
    put_amounts(profile, &total);
    return ok;
}

/* ---- a heap ---- */

struct callgrind_heap {
    struct heap_writer base;
    struct profile profile;
};

/* Adds a call from each site to what is below it.  A site's number is above its caller's. */
static bool add_calls(struct profile *profile, const struct heap_sites *sites,
                      struct amounts *below)
{
    bool ok = true;
    for (size_t i = sites->count; ok && i-- > 1;) {
        const struct heap_site *site = &sites->items[i], *caller = &sites->items[site->parent];
        if (below[i].second == 0 || site->parent == 0)
            continue;
        below[site->parent].first += below[i].first;
        below[site->parent].second += below[i].second;
        ok = add_call(profile, caller->method_id, caller->line, FUNCTION_OF_METHOD(site->method_id),
                      below[i].second, below[i]);
    }
    return ok;
}

static bool add_heap(struct callgrind_heap *file, const struct heap_snapshot *snapshot)
{
    const struct heap_sites *sites = file->base.sites;
    struct profile *profile = &file->profile;
    struct amounts *below = calloc(sites->count, sizeof *below);
    bool ok = below != NULL;
    for (size_t i = 0; ok && i < snapshot->count; i++) {
        const struct heap_row *row = &snapshot->rows[i];
        const struct heap_amount *amount = heap_export_amount(&file->base.options, row);
        const struct amounts amounts = {amount->bytes, amount->objects};
        const struct heap_site *site = &sites->items[row->key.site];
        uint64_t class = FUNCTION_OF_CLASS(row->key.class_id);
        if (amount->objects == 0)
            continue;
        below[row->key.site].first += amounts.first;
        below[row->key.site].second += amounts.second;
        ok = callgrind_add(profile, &(struct cost){class, NO_CALLEE, site->method_id, site->line, 0,
                                                   amounts}) &&
             (row->key.site == 0 ||
              add_call(profile, site->method_id, site->line, class, amounts.second, amounts));
    }
    ok = ok && add_calls(profile, sites, below);
    free(below);
    return ok;
}

static enum step_status put_heap(struct heap_writer *writer, struct heap_snapshot *snapshot,
                                 struct step_error *error)
{
    struct callgrind_heap *file = (struct callgrind_heap *) writer;
    char moment[48], about[80];
    profile_init(&file->profile, writer->stream.file, writer->sites->names);
    file->profile.omits_first = !snapshot->has_sizes;
    heap_snapshot_fold(snapshot, HEAP_BY_CLASS | HEAP_BY_SITE);
    heap_moment_print(&snapshot->moment, snapshot->unit, moment, sizeof moment);
    snprintf(about, sizeof about, "%s%s",
             writer->options.allocated ? "allocated until " : "alive at ", moment);
    bool ok = add_heap(file, snapshot) &&
              callgrind_put_profile(&file->profile, writer->title, writer->process, about,
                                    snapshot->has_sizes ? "Bytes Objects" : "Objects");
    return ok ? STEP_STATUS_OK : no_memory(error);
}

static void reset_heap(struct heap_writer *writer)
{
    profile_reset(&((struct callgrind_heap *) writer)->profile);
}

static const struct heap_writer_operations heap_operations = {
    .put = put_heap,
    .reset = reset_heap,
    .size_bytes = sizeof(struct callgrind_heap),
};

const struct trace_format format_callgrind = {
    .name = "callgrind",
    .ending = ".callgrind",
    .help = "KCachegrind, callgrind_annotate",
    .packs_by_ending = true,
    .needs = FORMAT_NEEDS_HEAP,
    .options = heap_format_options,
    .sink = &heap_sink_operations,
    .heap_writer = &heap_operations,
};

/* ---- calls ---- */

struct callgrind_calls {
    struct trace_sink base;
    struct call_events calls;
    struct profile profile;
};

static enum step_status callgrind_receive(void *user, const struct call_event *event,
                                          struct step_error *error)
{
    struct profile *profile = &((struct callgrind_calls *) user)->profile;
    const struct call_frame *call = event->frame, *caller = call_event_caller(event);
    if (event->change == CALL_OPENS)
        return STEP_STATUS_OK;
    uint64_t function = FUNCTION_OF_METHOD(call->method_id);
    const struct amounts all = {event->took_ns, call->inner_calls + 1};
    const struct amounts self = {all.first - call->inner_ns, 1};
    bool ok =
        callgrind_add(profile, &(struct cost){function, NO_CALLEE, call->method_id, 0, 0, self}) &&
        (caller == NULL || add_call(profile, caller->method_id, 0, function, 1, all));
    return ok ? STEP_STATUS_OK : no_memory(error);
}

static enum step_status callgrind_put_events(struct trace_sink *base,
                                             const struct trace_event *events, size_t count,
                                             struct step_error *error)
{
    struct callgrind_calls *sink = (struct callgrind_calls *) base;
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < count && status == STEP_STATUS_OK; i++)
        status = call_events_put(&sink->calls, &events[i], error);
    return status;
}

static enum step_status callgrind_close_calls(struct trace_sink *base, struct step_error *error)
{
    struct callgrind_calls *sink = (struct callgrind_calls *) base;
    enum step_status status = call_events_finish(&sink->calls, error);
    if (status != STEP_STATUS_OK)
        return status;
    if (!callgrind_put_profile(
            &sink->profile, event_source_property(sink->base.source, "java-command"),
            event_source_number(sink->base.source, "process-id", 1), "method events", "Ns Calls"))
        return no_memory(error);
    return status;
}

static void reset_calls(struct trace_sink *base)
{
    struct callgrind_calls *sink = (struct callgrind_calls *) base;
    call_events_reset(&sink->calls);
    profile_reset(&sink->profile);
}

static enum step_status open_calls(struct trace_sink *base, const struct format_output *to,
                                   struct step_error *error)
{
    struct callgrind_calls *sink = (struct callgrind_calls *) base;
    const uint64_t *from_ns = format_settings_get(to->settings, &call_options);
    (void) error;
    call_events_init(&sink->calls, *from_ns, callgrind_receive, sink);
    profile_init(&sink->profile, base->stream.file, &to->source->names);
    return STEP_STATUS_OK;
}

static const struct trace_sink_operations calls_operations = {
    .size_bytes = sizeof(struct callgrind_calls),
    .prints = true,
    .open = open_calls,
    .put = callgrind_put_events,
    .close = callgrind_close_calls,
    .reset = reset_calls,
};

const struct trace_format format_callgrind_calls = {
    .name = "callgrind-calls",
    .ending = ".calls.callgrind",
    .help = "KCachegrind, callgrind_annotate",
    .packs_by_ending = true,
    .needs = FORMAT_NEEDS_CALLS,
    .sink = &calls_operations,
};
