/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace heap: shows live objects at a moment, or objects allocated until then, by class and
 * allocation site. */
#include <stdlib.h>

#include "converter/cli/error_report.h"
#include "converter/cli/verb.h"
#include "converter/commands/heap_of_dump.h"
#include "converter/containers/no_memory.h"
#include "converter/files/sampled_trace.h"
#include "converter/formats/input.h"
#include "converter/graph/keepers_of_trace.h"
#include "converter/heap/heap_report.h"
#include "converter/heap/heap_tracker.h"
#include "converter/statistics/gate_rule.h"
#include "converter/statistics/lasting_names.h"
#include "converter/statistics/measure_trace.h"
#include "converter/trace/selection_options.h"

VERB(heap);

/* ---- what the user asks for ---- */

#define HEAP_MOMENTS_MOST 2u
#define HEAP_BY_OBJECT 8u /* with --retained, beside the bits of enum heap_axis */

struct heap_asked {
    struct heap_report report; /* path and sites are set with the heaps */
    struct heap_moment moments[HEAP_MOMENTS_MOST];
    size_t moment_count;
    bool has_moment; /* a moment was given */
    bool ages;
    bool retained; /* print retained sizes instead of the objects' own */
    const struct trace_format *from;
    const char *heap; /* allocator of an imported dump; NULL: all */
    struct event_selection selected;
    struct gates gates;
};

/* Applies options that affect others. */
static void heap_asked_complete(struct heap_asked *asked)
{
    if (asked->retained && !asked->has_moment)
        asked->moments[0].kind =
            HEAP_AT_END; /* as `paths`; many traces have references only then */
    if (!asked->selected.temporary || asked->has_moment)
        return;
    asked->report.allocated = true; /* only allocations: these are never alive for long */
    asked->moments[0].kind = HEAP_AT_END;
}

/* ---- values ---- */

static bool take_heap_moment(void *asked_target, const char *value, const char **fault)
{
    struct heap_asked *asked = asked_target;
    asked->moment_count = 1;
    asked->has_moment = true;
    return take_moment(&asked->moments[0], value, fault);
}

static bool take_heap_moments(void *asked_target, const char *value, const char **fault)
{
    struct heap_asked *asked = asked_target;
    const char *comma = strchr(value, ',');
    char first[64];
    *fault = "two moments are expected, as in --diff gc:3 end";
    if (comma == NULL || (size_t) (comma - value) >= sizeof first)
        return false;
    memcpy(first, value, (size_t) (comma - value));
    first[comma - value] = '\0';
    asked->moment_count = 2;
    asked->has_moment = true;
    return heap_moment_parse(first, &asked->moments[0]) &&
           heap_moment_parse(comma + 1, &asked->moments[1]);
}

static bool take_heap_axes(void *unsigned_target, const char *value, const char **fault)
{
    static const char *const words[] = {"class", "site", "thread", "object"};
    *fault = "class, site or thread is expected, or several with + between";
    return take_some_of(words, sizeof words / sizeof words[0], value, unsigned_target);
}

/* Options take one value: joins `--diff A B` to `--diff=A,B`, which is stored in `joined`.  Returns
 * the new number of words. */
static int heap_join_diff(int argc, char **argv, char *joined, size_t joined_size)
{
    for (int i = 0; i + 2 < argc; i++) {
        if (strcmp(argv[i], "--") == 0)
            break;
        if (strcmp(argv[i], "--diff") != 0 || strchr(argv[i + 1], ',') != NULL)
            continue;
        snprintf(joined, joined_size, "--diff=%s,%s", argv[i + 1], argv[i + 2]);
        argv[i] = joined;
        memmove(&argv[i + 1], &argv[i + 3], (size_t) (argc - i - 3) * sizeof *argv);
        return argc - 2;
    }
    return argc;
}

/* ---- options that exclude each other ---- */

static enum step_status check_retained(const struct arguments *arguments,
                                       const struct heap_asked *asked)
{
    unsigned axes = asked->report.axes;
    if (axes != HEAP_BY_CLASS && axes != HEAP_BY_SITE && axes != HEAP_BY_OBJECT)
        return arguments_fault(arguments, "--retained needs --by=class, site or object");
    if (!event_selection_is_all(&asked->selected))
        return arguments_fault(arguments,
                               "--retained is of the whole heap: no option can select a part of it "
                               "(steptrace paths IN --class=GLOB has those of a class)");
    if (asked->moment_count != 1 || asked->ages || asked->report.allocated ||
        asked->report.tree != HEAP_NO_TREE || asked->report.form == HEAP_AS_CSV ||
        asked->from != NULL)
        return arguments_fault(arguments,
                               "--retained excludes --diff, --ages, --allocated, --tree, --csv "
                               "and --from");
    return STEP_STATUS_OK;
}

static enum step_status heap_asked_check(const struct arguments *arguments,
                                         const struct heap_asked *asked)
{
    if (asked->retained)
        return check_retained(arguments, asked);
    if ((asked->report.axes & HEAP_BY_OBJECT) != 0)
        return arguments_fault(arguments, "--by object needs --retained");
    if (asked->ages && (asked->moment_count != 1 || asked->report.form != HEAP_AS_TEXT))
        return arguments_fault(arguments, "--ages prints text, for one moment");
    if (asked->report.tree != HEAP_NO_TREE &&
        (asked->moment_count != 1 || asked->report.form != HEAP_AS_TEXT))
        return arguments_fault(arguments, "--tree prints text, for one moment");
    return gates_check(&asked->gates, arguments, METRICS_OF_HEAPS,
                       asked->moment_count == 2 ? NULL : "add --diff A B, two moments");
}

/* ---- the heaps ---- */

struct heaps_found {
    const struct heap_asked *asked; /* borrowed, as are path and sites */
    const char *path;
    const struct heap_sites *sites;
    struct heap_snapshot snapshots[HEAP_MOMENTS_MOST]; /* without rows if there is no such moment */
    struct heap_ages ages;                             /* if requested */
    uint64_t collections;                              /* of the whole trace */
    uint64_t end_ns;                                   /* of the whole trace */
    enum time_unit unit;
    bool is_import;    /* from a dump, not a trace */
    bool is_of_jvm;    /* recorded in a JVM, which collects */
    bool is_collected; /* it did at the end: end=collect */
    bool is_empty;     /* no event was selected */
    const char *lack;  /* measures_find_lack() */
};

/* Of two moments, the first is the side before. */
static bool verb_heap_measure(const struct heaps_found *found, struct measures *measures)
{
    const struct heap_asked *asked = found->asked;
    size_t count = asked->gates.count > 0 ? asked->moment_count : 0;
    measures_note_lack(measures, found->lack);
    bool ok = count == 0 ||
              measures_note_names(measures, found->sites->names, &asked->selected, found->is_empty);
    for (size_t i = 0; ok && i < count; i++)
        ok = measure_heap(measures, found->sites, &found->snapshots[i],
                          i + 1 < count ? SIDE_BEFORE : SIDE_AFTER);
    return ok;
}

static bool print_heaps(struct heaps_found *found)
{
    const struct heap_asked *asked = found->asked;
    struct heap_report report = asked->report;
    report.path = found->path;
    report.sites = found->sites;
    report.is_import = found->is_import;
    report.is_of_jvm = found->is_of_jvm;
    report.is_collected = found->is_collected;
    if (asked->moment_count == 2)
        return heap_print_changes(&report, &found->snapshots[0], &found->snapshots[1]);
    if (asked->ages) {
        heap_print_ages(&report, &found->snapshots[0], &found->ages);
        return true;
    }
    if (report.tree != HEAP_NO_TREE)
        return heap_print_tree(&report, &found->snapshots[0]);
    return heap_print_table(&report, &found->snapshots[0]);
}

static enum step_status check_found(const struct heaps_found *found, struct step_error *error)
{
    bool is_missing = false;
    for (size_t i = 0; i < found->asked->moment_count; i++)
        is_missing |= found->snapshots[i].rows == NULL;
    if (is_missing && found->is_import)
        return step_error_set(error, STEP_STATUS_NOT_FOUND, found->path, STEP_NO_OFFSET,
                              "the file has no such dump");
    if (is_missing)
        return heap_moment_missing(STEP_STATUS_NOT_FOUND, found->path, found->end_ns, found->unit,
                                   found->collections, error);
    return STEP_STATUS_OK;
}

/* Prints the request's result, and evaluates its rules.  Reports errors; NOT_FOUND: there is no
 * such moment. */
static enum step_status heaps_found_print(struct heaps_found *found)
{
    const struct gates *gates = &found->asked->gates;
    struct step_error error = {.offset = STEP_NO_OFFSET};
    if (check_found(found, &error) != STEP_STATUS_OK)
        return report_error(&error);
    struct measures measures;
    bool ok = measures_init(&measures, HEAP_MOMENTS_MOST) && verb_heap_measure(found, &measures) &&
              (gates->is_quiet || print_heaps(found));
    enum step_status status = ok ? STEP_STATUS_OK : no_memory(&error);
    if (ok && gates->count > 0)
        status = gates_judge(gates, "heap", &measures, &verb_exit_code);
    measures_reset(&measures);
    return ok ? status : report_error(&error);
}

/* Frees the snapshots. */
static void heaps_found_reset(struct heaps_found *found)
{
    for (size_t i = 0; i < HEAP_MOMENTS_MOST; i++)
        heap_snapshot_reset(&found->snapshots[i]);
}

/* ---- the heaps, found in one pass over the trace, or in two for ages at the peak ---- */

/* A pass over the trace, and its results. */
struct pass {
    const struct heap_asked *asked;
    struct input *input;
    struct heap_tracker tracker;
    struct heaps_found found;
    bool wants_ages;
};

static enum step_status verb_heap_receive(void *user, struct heap_snapshot *snapshot,
                                          struct step_error *error)
{
    struct pass *pass = user;
    struct heap_snapshot *snapshots = pass->found.snapshots;
    const struct heap_moment *moments = pass->asked->moments;
    (void) error;
    for (size_t i = 0; i < pass->asked->moment_count; i++) {
        if (snapshots[i].rows != NULL || moments[i].kind != snapshot->moment.kind ||
            moments[i].value != snapshot->moment.value)
            continue;
        snapshots[i] = *snapshot;
        if (pass->wants_ages)
            heap_ages_find(&pass->tracker, snapshot->time_ns, &pass->found.ages);
        return STEP_STATUS_OK;
    }
    heap_snapshot_reset(snapshot);
    return STEP_STATUS_OK;
}

static enum step_status verb_heap_visit(void *user, const struct trace_event *events, size_t count,
                                        struct step_error *error)
{
    return heap_tracker_put(&((struct pass *) user)->tracker, events, count, error);
}

static bool judges_threads(const struct gates *gates)
{
    bool found = false;
    for (size_t i = 0; i < gates->count; i++)
        found |= gates->rules[i].axis == AXIS_THREAD;
    return found;
}

static enum step_status verb_heap_follow(struct pass *pass, uint64_t event_limit)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    const struct heap_asked *asked = pass->asked;
    const struct heap_tracker_options options = {
        .selected = &asked->selected,
        .by_thread = (asked->report.axes & HEAP_BY_THREAD) != 0 || judges_threads(&asked->gates),
        .moments = asked->moments,
        .moment_count = asked->moment_count,
        .receive = verb_heap_receive,
        .user = pass};
    if (!heap_tracker_init(&pass->tracker, pass->input->source, &options))
        return report_no_memory();
    pass->tracker.event_limit = event_limit;
    enum step_status status = heap_tracker_weigh(&pass->tracker, pass->input->source, &error);
    if (status != STEP_STATUS_OK)
        return report_error(&error);
    status = input_each(pass->input, verb_heap_visit, pass);
    if (status != STEP_STATUS_OK)
        return status;
    pass->input->unknown_frees = pass->tracker.unknown_frees;
    status = heap_tracker_finish(&pass->tracker, &error);
    return status == STEP_STATUS_OK ? status : report_error(&error);
}

static void reset_pass(struct pass *pass)
{
    heaps_found_reset(&pass->found);
    heap_tracker_reset(&pass->tracker);
}

/* Ages at the peak need the objects that lived then.  A first pass finds the time of the peak. */
static enum step_status follow_to_peak(struct pass *pass, const char *path,
                                       const struct event_selection *selected)
{
    struct input first;
    enum step_status status =
        input_open(&first, pass->input->spool >= 0 ? pass->input->spool_path : path,
                   pass->asked->from, selected);
    if (status != STEP_STATUS_OK)
        return status;
    struct pass before = {.asked = pass->asked, .input = &first};
    status = verb_heap_follow(&before, 0);
    uint64_t peak_event = before.tracker.peak_event;
    reset_pass(&before);
    input_close(&first);
    return status == STEP_STATUS_OK ? verb_heap_follow(pass, peak_event) : status;
}

static enum step_status trace_print(struct pass *pass, const char *path)
{
    struct heaps_found *found = &pass->found;
    found->asked = pass->asked;
    found->path = path;
    found->sites = &pass->tracker.sites;
    found->collections = pass->tracker.collections;
    found->end_ns = pass->tracker.now_ns;
    found->unit = pass->tracker.unit;
    found->is_empty = pass->input->events == 0;
    found->is_of_jvm =
        trace_text_is_there(event_source_property(pass->input->source, "java-vm-version"));
    found->lack = measures_find_lack(pass->input->source, &pass->asked->selected);
    found->is_collected = event_source_number(pass->input->source, "end-collection-ns", 0) != 0;
    if ((pass->asked->report.axes & HEAP_BY_SITE) != 0 && pass->tracker.sites.count <= 1)
        report_no_stacks(path);
    uint32_t not_recorded = event_source_not_recorded(pass->input->source);
    if (pass->asked->report.allocated)
        not_recorded &= TRACE_KIND_BIT(EVENT_OBJECT_ALLOC);
    trace_report_not_recorded(path, not_recorded);
    return heaps_found_print(found);
}

/* Finds and prints the heaps, and evaluates the rules.  Reports errors and damage.  asked->selected
 * must not be used afterwards, since it borrows from the input. */
static enum step_status heap_from_trace(struct heap_asked *asked, const char *path)
{
    struct input input;
    struct event_selection selected;
    heap_tracker_select(&selected, &asked->selected);
    if (asked->gates.count > 0)
        measures_want_names(&selected);
    enum step_status status = input_open_seekable(&input, path, asked->from, &selected);
    if (status != STEP_STATUS_OK)
        return status;
    if (event_source_sample_interval(input.source) != 0 && !asked->has_moment)
        asked->moments[0].kind = HEAP_AT_END;
    status = input_choose_objects(&input, path, NULL, &asked->selected);
    if (status != STEP_STATUS_OK) {
        input_close(&input);
        return status;
    }
    struct pass pass = {.asked = asked, .input = &input, .wants_ages = asked->ages};
    bool in_two = asked->ages && asked->moments[0].kind == HEAP_AT_PEAK;
    status = in_two ? follow_to_peak(&pass, path, &selected) : verb_heap_follow(&pass, 0);
    if (status == STEP_STATUS_OK)
        status = trace_print(&pass, path);
    enum step_status damage = input_report_damage(&input);
    reset_pass(&pass);
    input_close(&input);
    return status == STEP_STATUS_OK ? damage : status;
}

/* ---- dumps: options that they do not support, and rows by --class ---- */

static bool verb_heap_class_is_wanted(const struct heaps_found *found, uint32_t class_id)
{
    return selected_globs_take(&found->asked->selected.classes, trace_class_name_matches,
                               &trace_class_of(found->sites->names, class_id)->name);
}

static void filter_classes(const struct heaps_found *found, struct heap_snapshot *snapshot)
{
    size_t kept = 0;
    free(snapshot->dumped); /* these are totals of all classes */
    snapshot->dumped = NULL;
    snapshot->live = snapshot->allocated = snapshot->existing = (struct heap_amount){0, 0, 0};
    for (size_t i = 0; i < snapshot->count; i++) {
        if (!verb_heap_class_is_wanted(found, snapshot->rows[i].key.class_id))
            continue;
        snapshot->rows[kept++] = snapshot->rows[i];
        heap_amount_add(&snapshot->live, &snapshot->rows[i].live);
        heap_amount_add(&snapshot->allocated, &snapshot->rows[i].allocated);
        heap_amount_add(&snapshot->existing, &snapshot->rows[i].existing);
    }
    snapshot->count = kept;
}

static enum step_status verb_heap_check(const struct heap_asked *asked, const char *path)
{
    struct event_selection rest = asked->selected;
    rest.classes.count = 0;
    if ((asked->report.axes & HEAP_BY_THREAD) != 0 || asked->ages) {
        report_line("%s: heap dumps contain neither threads nor ages", path);
        return STEP_STATUS_INVALID;
    }
    if (!event_selection_is_all(&rest)) {
        report_line("%s: heap dumps are selected by --class only", path);
        return STEP_STATUS_INVALID;
    }
    return STEP_STATUS_OK;
}

static enum step_status verb_heap_print(struct heap_of_dump *import, const struct heap_asked *asked,
                                        const char *path)
{
    struct heaps_found found = {
        .asked = asked, .path = path, .sites = &import->infra.sites, .is_import = true};
    bool by_class = asked->report.axes == HEAP_BY_CLASS && asked->report.tree == HEAP_NO_TREE;
    enum step_status status = heap_of_dump_moments(import, asked->heap, by_class, asked->moments,
                                                   asked->moment_count, found.snapshots);
    for (size_t i = 0; asked->selected.classes.count > 0 && i < asked->moment_count; i++)
        if (found.snapshots[i].rows != NULL)
            filter_classes(&found, &found.snapshots[i]);
    if (status == STEP_STATUS_OK)
        status = heaps_found_print(&found);
    heaps_found_reset(&found);
    return status;
}

/* Like heap_from_trace().  Returns INVALID for options that dumps do not support. */
static enum step_status heap_from_dump(const struct heap_asked *asked, const char *path)
{
    struct heap_of_dump import;
    if (verb_heap_check(asked, path) != STEP_STATUS_OK)
        return STEP_STATUS_INVALID;
    enum step_status status = heap_of_dump_open(&import, path);
    if (status == STEP_STATUS_OK) {
        status = verb_heap_print(&import, asked, path);
        status = heap_of_dump_report_damage(&import, status);
    }
    heap_of_dump_close(&import);
    return status;
}

static const struct verb_help help = {
    .name = "heap",
    .operands = "IN [OPTION]...",
    .text = "Shows what occupied the heap at a given moment, by class, by allocation site (needs\n"
            "the agent's option stack=N, or method events) or by thread: as a table, as a call\n"
            "tree, or as the difference between two moments. A moment is peak, end, a time, or\n"
            "gc:N.\n",
};

static enum step_status run_retained(const struct heap_asked *asked, const char *path)
{
    const struct keepers_options keepers = {
        .moment = asked->moments[0],
        .by = asked->report.axes == HEAP_BY_OBJECT ? RETAINED_BY_OBJECT
              : asked->report.axes == HEAP_BY_SITE ? RETAINED_BY_SITE
                                                   : RETAINED_BY_CLASS,
        .top = asked->report.top,
        .depth = asked->report.depth,
        .as_json = asked->report.form == HEAP_AS_JSON};
    return keepers_print_retained(path, &keepers);
}

/* The maximum of an estimate is no estimate of the maximum. */
static const char *needs_all(const struct heap_asked *asked)
{
    const char *option = asked->ages                          ? "--ages"
                         : asked->report.tree != HEAP_NO_TREE ? "--tree"
                                                              : NULL;
    for (size_t i = 0; i < asked->moment_count; i++)
        if (asked->has_moment && asked->moments[i].kind == HEAP_AT_PEAK)
            option = "the moment 'peak'";
    return option;
}

static enum step_status verb_heap_run(struct heap_asked *asked, const struct arguments *arguments)
{
    const char *path = arguments->operands[0];
    heap_asked_complete(asked);
    if (heap_asked_check(arguments, asked) != STEP_STATUS_OK)
        return STEP_STATUS_INVALID;
    asked->selected.needs_all = needs_all(asked);
    if (asked->retained)
        return run_retained(asked, path);
    const struct trace_format *format = trace_format_of(path, asked->from);
    return format != NULL && format->reads_dumps ? heap_from_dump(asked, path)
                                                 : heap_from_trace(asked, path);
}

enum step_status verb_heap(int argc, char **argv)
{
    struct heap_asked asked = {
        .report = {.axes = HEAP_BY_CLASS, .top = TOP_DEFAULT, .depth = DEPTH_DEFAULT},
        .moments = {{.kind = HEAP_AT_PEAK}},
        .moment_count = 1};
    char joined[128];
    event_selection_init(&asked.selected);
    argc = heap_join_diff(argc, argv, joined, sizeof joined);
    const struct option_row rows[] = {
        {"at", 0, "MOMENT",
         "peak (default; --retained: end), end, gc:N or a time (200ms, 1.5s; plain: s)",
         take_heap_moment, &asked},
        {"diff", 0, "A B", "show changes from moment A to moment B", take_heap_moments, &asked},
        {"retained", 0, NULL, "retained sizes, by class, site or object", take_flag,
         &asked.retained},
        {"by", 0, "WHAT", "group by class (default), site, thread, or several: class+site",
         take_heap_axes, &asked.report.axes},
        {"alive", 0, NULL, "objects alive at the moment (default)",
         SETS(asked.report.allocated, false)},
        {"allocated", 0, NULL, "all objects allocated up to then, dead or alive", take_flag,
         &asked.report.allocated},
        {"tree", 0, "WAY", "call tree: top-down or bottom-up; with --by class+site also types",
         WORDS(asked.report.tree, "", "top-down", "bottom-up")},
        {"least", 0, "SIZE", "smallest node of the tree, in bytes or percent (1%)", take_heap_least,
         &asked.report.least},
        {"ages", 0, NULL, "show ages", take_flag, &asked.ages},
        {"heap", 0, "NAME", "imported dumps: only this allocator", take_text, &asked.heap},
        TOP_ROW(&asked.report.top),
        DEPTH_ROW(&asked.report.depth),
        FROM_ROW(&asked.from),
        {"json", 0, NULL, "as JSON", SETS(asked.report.form, HEAP_AS_JSON)},
        {"csv", 0, NULL, "as CSV", SETS(asked.report.form, HEAP_AS_CSV)},
        GATE_ROWS(&asked.gates),
        OBJECT_SELECTION_ROWS(&asked.selected),
        READING_ROWS};
    struct arguments arguments = ARGUMENTS_OF(help, rows);
    if (arguments_read(&arguments, argc, argv, 1, 1))
        arguments.status = verb_heap_run(&asked, &arguments);
    gates_reset(&asked.gates);
    return arguments.status;
}
