/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace heap: what lives at a moment, or was allocated by then, and where it came from. */
#include <stdlib.h>
#include <string.h>

#include "converter/base/error_report.h"
#include "converter/base/given_definition.h"
#include "converter/base/memory_limit.h"
#include "converter/base/no_memory.h"
#include "converter/events/selection_options.h"
#include "converter/gates/gate_options.h"
#include "converter/heap/heap_tracker.h"
#include "converter/heap_report/heap_ages.h"
#include "converter/heap_report/heap_table.h"
#include "converter/heap_report/heap_tree.h"
#include "converter/measures/measure_heap.h"
#include "converter/open/input.h"
#include "converter/verb_parts/heap_of_dump.h"
#include "converter/verb_parts/keepers_of_trace.h"
#include "converter/verbs/verb.h"

#define TOP_DEFAULT UINT64_C(20)
#define DEPTH_DEFAULT UINT64_C(4)
#define MOMENTS 2u
#define BY_OBJECT 8u /* of --retained, beside the bits of enum heap_axis */

static const struct verb_help help = {
    .name = "heap",
    .operands = "IN [OPTION]...",
    .text =
        "Tells what lived at a moment of the trace, by class, by call site (the agent's option\n"
        "stack=N, or method events) or by thread: as a table, as a tree of calls, or as the\n"
        "difference of two moments. A moment is peak, end, a time, or gc:N.\n",
};

struct heap_options {
    struct heap_report report;
    struct heap_moment moments[MOMENTS];
    size_t moment_count;
    bool has_moment; /* one was asked for */
    bool ages;
    bool retained; /* what objects keep, instead of what they are */
    const struct trace_format *from;
    const char *heap; /* of an imported dump: the allocator; NULL: all */
    struct event_selection selected;
    struct gates gates;
};

/* One pass over the trace, and what it gave. */
struct heap_run {
    const struct heap_options *options;
    struct input *input;
    const struct trace_names *names;
    struct heap_tracker tracker;
    struct heap_snapshot snapshots[MOMENTS];
    struct heap_ages ages;
};

static bool take_moment(void *options_target, const char *value, const char **fault)
{
    struct heap_options *options = options_target;
    *fault = "peak, end, gc:N or a time is expected";
    options->moment_count = 1;
    options->has_moment = true;
    return heap_moment_parse(value, &options->moments[0]);
}

static bool take_two_moments(void *options_target, const char *value, const char **fault)
{
    struct heap_options *options = options_target;
    const char *comma = strchr(value, ',');
    char first[64];
    *fault = "two moments are expected, as in --diff gc:3 end";
    if (comma == NULL || (size_t) (comma - value) >= sizeof first)
        return false;
    memcpy(first, value, (size_t) (comma - value));
    first[comma - value] = '\0';
    options->moment_count = 2;
    options->has_moment = true;
    return heap_moment_parse(first, &options->moments[0]) &&
           heap_moment_parse(comma + 1, &options->moments[1]);
}

static bool take_axes(void *unsigned_target, const char *value, const char **fault)
{
    static const char *const words[] = {"class", "site", "thread", "object"};
    enum { WORDS = sizeof words / sizeof words[0] };
    unsigned axes = 0;
    *fault = "class, site or thread is expected, or several with + between";
    for (;;) {
        size_t length = strcspn(value, "+,"), i = 0;
        while (i < WORDS && (strlen(words[i]) != length || memcmp(words[i], value, length) != 0))
            i++;
        if (i == WORDS)
            return false;
        axes |= 1u << i;
        if (value[length] == '\0')
            break;
        value += length + 1;
    }
    *(unsigned *) unsigned_target = axes;
    return true;
}

static bool take_tree(void *tree_target, const char *value, const char **fault)
{
    *fault = "top-down or bottom-up is expected";
    enum heap_tree tree = strcmp(value, "top-down") == 0    ? HEAP_TOP_DOWN
                          : strcmp(value, "bottom-up") == 0 ? HEAP_BOTTOM_UP
                                                            : HEAP_NO_TREE;
    *(enum heap_tree *) tree_target = tree;
    return tree != HEAP_NO_TREE;
}

static bool take_alive(void *bool_target, const char *value, const char **fault)
{
    (void) value, (void) fault;
    *(bool *) bool_target = false;
    return true;
}

static bool take_json(void *form_target, const char *value, const char **fault)
{
    (void) value, (void) fault;
    *(enum heap_form *) form_target = HEAP_AS_JSON;
    return true;
}

static bool take_csv(void *form_target, const char *value, const char **fault)
{
    (void) value, (void) fault;
    *(enum heap_form *) form_target = HEAP_AS_CSV;
    return true;
}

/* Turns `--diff A B` into `--diff A,B` in `joined`, since options take one value. */
static int join_diff(int argc, char **argv, char *joined, size_t joined_size)
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

static bool name_matches(const void *user, const char *glob)
{
    return trace_glob_matches(glob, *(const struct step_bytes *) user);
}

static bool class_is_wanted(const struct heap_run *run, uint32_t class_id)
{
    const struct selected_globs *globs = &run->options->selected.classes;
    const struct step_bytes *name = &trace_class_of(run->names, class_id)->name;
    return selected_globs_accept(globs, selected_globs_mask(globs, name_matches, name));
}

static void add_amount(struct heap_amount *sum, const struct heap_amount *amount)
{
    sum->objects += amount->objects;
    sum->bytes += amount->bytes;
    sum->ages_us += amount->ages_us;
}

/* Leaves the rows of a dump that --class asks for. */
static void filter_classes(const struct heap_run *run, struct heap_snapshot *snapshot)
{
    size_t kept = 0;
    if (run->options->selected.classes.count == 0)
        return;
    free(snapshot->dumped); /* they tell of all */
    snapshot->dumped = NULL;
    snapshot->live = snapshot->allocated = (struct heap_amount){0, 0, 0};
    for (size_t i = 0; i < snapshot->count; i++) {
        if (!class_is_wanted(run, snapshot->rows[i].key.class_id))
            continue;
        snapshot->rows[kept++] = snapshot->rows[i];
        add_amount(&snapshot->live, &snapshot->rows[i].live);
        add_amount(&snapshot->allocated, &snapshot->rows[i].allocated);
    }
    snapshot->count = kept;
}

static void add_age(void *user, const struct heap_key *key, uint64_t bytes, uint64_t age_us)
{
    struct heap_run *run = user;
    (void) key;
    heap_ages_add(&run->ages, bytes, age_us);
}

static enum step_status receive(void *user, struct heap_snapshot *snapshot,
                                struct step_error *error)
{
    struct heap_run *run = user;
    (void) error;
    for (size_t i = 0; i < run->options->moment_count; i++) {
        if (run->snapshots[i].rows != NULL ||
            run->options->moments[i].kind != snapshot->moment.kind ||
            run->options->moments[i].value != snapshot->moment.value)
            continue;
        run->snapshots[i] = *snapshot;
        if (run->options->ages)
            heap_tracker_each_object(&run->tracker, add_age, run);
        return STEP_STATUS_OK;
    }
    heap_snapshot_reset(snapshot);
    return STEP_STATUS_OK;
}

static enum step_status visit(void *user, const struct trace_event *events, size_t count,
                              struct step_error *error)
{
    return heap_tracker_put(&((struct heap_run *) user)->tracker, events, count, error);
}

/* Of two moments the first is what was before. */
static bool measure(const struct heap_run *run, const struct heap_report *report,
                    struct measures *measures)
{
    size_t count = run->options->gates.count > 0 ? run->options->moment_count : 0;
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        ok = measure_heap(measures, report->sites, &run->snapshots[i],
                          i + 1 < count ? SIDE_BEFORE : SIDE_AFTER);
    return ok;
}

static enum step_status judge(const struct heap_run *run, const struct measures *measures)
{
    size_t failed = 0;
    enum step_status status = run->options->gates.count > 0
                                  ? gates_judge(&run->options->gates, help.name, measures, &failed)
                                  : STEP_STATUS_OK;
    if (failed > 0)
        verb_exit_code = VERB_EXIT_GATE;
    return status;
}

static bool print_rows(struct heap_run *run, struct heap_report *report)
{
    if (run->options->moment_count == 2)
        return heap_print_changes(report, &run->snapshots[0], &run->snapshots[1]);
    if (run->options->ages) {
        heap_print_ages(report, &run->snapshots[0], &run->ages);
        return true;
    }
    if (report->tree != HEAP_NO_TREE)
        return heap_print_tree(report, &run->snapshots[0]);
    return heap_print_table(report, &run->snapshots[0]);
}

static enum step_status print(struct heap_run *run, struct heap_report *report)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    for (size_t i = 0; i < run->options->moment_count; i++) {
        if (run->snapshots[i].rows != NULL)
            continue;
        step_error_set(&error, STEP_STATUS_NOT_FOUND, report->path, STEP_NO_OFFSET,
                       run->input == NULL ? "the file has no such dump"
                                          : "the trace has no such moment: it has %llu collections",
                       (unsigned long long) run->tracker.collections);
        return report_error(&error);
    }
    struct measures measures; /* before rows are added up for the report */
    bool ok = measures_init(&measures, MOMENTS) && measure(run, report, &measures) &&
              print_rows(run, report);
    enum step_status status = ok ? judge(run, &measures) : no_memory(&error);
    measures_reset(&measures);
    return ok ? status : report_error(&error);
}

static bool judges_threads(const struct heap_run *run)
{
    bool found = false;
    for (size_t i = 0; i < run->options->gates.count; i++)
        found |= run->options->gates.rules[i].axis == AXIS_THREAD;
    return found;
}

static enum step_status follow(struct heap_run *run, uint64_t event_limit)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    const struct heap_tracker_options options = {
        .selected = &run->options->selected,
        .by_thread = (run->options->report.axes & HEAP_BY_THREAD) != 0 || judges_threads(run),
        .moments = run->options->moments,
        .moment_count = run->options->moment_count,
        .receive = receive,
        .user = run};
    if (!heap_tracker_init(&run->tracker, run->names, &options)) {
        no_memory(&error);
        return report_error(&error);
    }
    run->tracker.event_limit = event_limit;
    enum step_status status = input_each(run->input, visit, run);
    if (status != STEP_STATUS_OK)
        return status;
    run->input->unknown_frees = run->tracker.unknown_frees;
    status = heap_tracker_finish(&run->tracker, &error);
    return status == STEP_STATUS_OK ? status : report_error(&error);
}

/* All that heaps are made of: which objects are told of is the tracker's business. */
static void select_heap(struct event_selection *selected, const char *dtd_path)
{
    event_selection_init(selected);
    selected->untracked = true;
    selected->kinds = HEAP_KINDS;
    selected->dtd_path = dtd_path;
}

static void reset_run(struct heap_run *run)
{
    for (size_t i = 0; i < MOMENTS; i++)
        heap_snapshot_reset(&run->snapshots[i]);
    heap_tracker_reset(&run->tracker);
}

/* Ages at the peak take the objects that lived then: they are met in a pass of its own, once it is
 * known when the peak was. */
static enum step_status follow_to_peak(struct heap_run *run, const char *path,
                                       const struct event_selection *selected)
{
    struct input first;
    enum step_status status =
        input_open(&first, run->input->spool >= 0 ? run->input->spool_path : path,
                   run->options->from, selected);
    if (status != STEP_STATUS_OK)
        return status;
    struct heap_options options = *run->options;
    options.ages = false;
    struct heap_run before = {.options = &options, .input = &first, .names = &first.source->names};
    status = follow(&before, 0);
    uint64_t peak_event = before.tracker.peak_event;
    reset_run(&before);
    input_close(&first);
    return status == STEP_STATUS_OK ? follow(run, peak_event) : status;
}

static enum step_status run_heap(struct heap_options *options, const char *path)
{
    struct input input;
    struct event_selection selected;
    select_heap(&selected, options->selected.dtd_path);
    enum step_status status = input_open_seekable(&input, path, options->from, &selected);
    if (status != STEP_STATUS_OK)
        return status;
    status = input_choose_objects(&input, path, NULL, &options->selected);
    if (status != STEP_STATUS_OK) {
        input_close(&input);
        return status;
    }
    struct heap_run run = {.options = options, .input = &input, .names = &input.source->names};
    bool in_two = options->ages && options->moments[0].kind == HEAP_AT_PEAK;
    status = in_two ? follow_to_peak(&run, path, &selected) : follow(&run, 0);
    options->report.path = path;
    options->report.sites = &run.tracker.sites;
    if (status == STEP_STATUS_OK)
        status = print(&run, &options->report);
    enum step_status damage = input_report_damage(&input);
    reset_run(&run);
    input_close(&input);
    return status == STEP_STATUS_OK ? damage : status;
}

/* Dumps of others: what they do not tell is refused. */
static enum step_status run_import(struct heap_options *options, const char *path)
{
    struct heap_of_dump import;
    struct event_selection rest = options->selected;
    rest.classes.count = 0;
    if ((options->report.axes & HEAP_BY_THREAD) != 0 || options->ages) {
        report_line("%s: heap dumps tell neither threads nor ages", path);
        return STEP_STATUS_INVALID;
    }
    if (!event_selection_is_all(&rest)) {
        report_line("%s: of heap dumps only --class can be chosen", path);
        return STEP_STATUS_INVALID;
    }
    enum step_status status = heap_of_dump_open(&import, path);
    if (status == STEP_STATUS_OK) {
        struct heap_run run = {.options = options, .names = &import.infra.names};
        bool by_class =
            options->report.axes == HEAP_BY_CLASS && options->report.tree == HEAP_NO_TREE;
        status = heap_of_dump_moments(&import, options->heap, by_class, options->moments,
                                      options->moment_count, run.snapshots);
        options->report.path = path;
        options->report.is_import = true;
        options->report.sites = &import.infra.sites;
        for (size_t i = 0; i < options->moment_count; i++)
            if (run.snapshots[i].rows != NULL)
                filter_classes(&run, &run.snapshots[i]);
        if (status == STEP_STATUS_OK)
            status = print(&run, &options->report);
        for (size_t i = 0; i < MOMENTS; i++)
            heap_snapshot_reset(&run.snapshots[i]);
        enum step_status damage = heap_of_dump_report_damage(&import);
        if (status == STEP_STATUS_OK ||
            (status == STEP_STATUS_NOT_FOUND && damage != STEP_STATUS_OK))
            status = damage;
    }
    heap_of_dump_close(&import);
    return status;
}

static enum step_status run_retained(const struct heap_options *options, const char *path)
{
    const struct keepers_options keepers = {
        .moment = options->moments[0],
        .by = options->report.axes == BY_OBJECT      ? RETAINED_BY_OBJECT
              : options->report.axes == HEAP_BY_SITE ? RETAINED_BY_SITE
                                                     : RETAINED_BY_CLASS,
        .top = options->report.top,
        .depth = options->report.depth,
        .as_json = options->report.form == HEAP_AS_JSON};
    return keepers_print_retained(path, &keepers);
}

static enum step_status check_retained(const struct arguments *arguments,
                                       const struct heap_options *options)
{
    unsigned axes = options->report.axes;
    if (axes != HEAP_BY_CLASS && axes != HEAP_BY_SITE && axes != BY_OBJECT)
        return arguments_fault(arguments, "--retained is by class, by site or by object");
    if (options->moment_count != 1 || options->ages || options->report.allocated ||
        options->report.tree != HEAP_NO_TREE || options->report.form == HEAP_AS_CSV ||
        options->from != NULL || !event_selection_is_all(&options->selected))
        return arguments_fault(arguments,
                               "--retained is of the whole heap at one moment, as text or JSON");
    return STEP_STATUS_OK;
}

static enum step_status check_options(const struct arguments *arguments,
                                      const struct heap_options *options)
{
    if (options->retained)
        return check_retained(arguments, options);
    if ((options->report.axes & BY_OBJECT) != 0)
        return arguments_fault(arguments, "--by object is of --retained");
    if (options->ages && (options->moment_count != 1 || options->report.form != HEAP_AS_TEXT))
        return arguments_fault(arguments, "--ages is for one moment, and prints text");
    if (options->report.tree != HEAP_NO_TREE &&
        (options->moment_count != 1 || options->report.form != HEAP_AS_TEXT))
        return arguments_fault(arguments, "--tree is for one moment, and prints text");
    const struct gate_rule *other = gates_find_other(&options->gates, METRICS_OF_HEAPS);
    const struct gate_rule *change = gates_find_change(&options->gates);
    if (other != NULL)
        return arguments_fault(arguments, "'%s': alive or alive_objects is expected", other->text);
    if (change != NULL && options->moment_count != 2)
        return arguments_fault(arguments, "'%s' is of a change: --diff A B has two moments",
                               change->text);
    return STEP_STATUS_OK;
}

enum step_status verb_heap(int argc, char **argv)
{
    struct heap_options options = {
        .report = {.axes = HEAP_BY_CLASS, .top = TOP_DEFAULT, .depth = DEPTH_DEFAULT},
        .moments = {{.kind = HEAP_AT_PEAK}},
        .moment_count = 1};
    char joined[128];
    event_selection_init(&options.selected);
    argc = join_diff(argc, argv, joined, sizeof joined);
    const struct option_row rows[] = {
        {"at", 0, "MOMENT", "peak (default), end, gc:N or a time (200ms, 1.5s; plain: ns)",
         take_moment, &options},
        {"diff", 0, "A B", "what changed from moment A to moment B", take_two_moments, &options},
        {"retained", 0, NULL, "what would go with it (by class, site or object)", take_flag,
         &options.retained},
        {"by", 0, "WHAT", "class (default), site, thread, or several: class+site", take_axes,
         &options.report.axes},
        {"alive", 0, NULL, "what lives at the moment (default)", take_alive,
         &options.report.allocated},
        {"allocated", 0, NULL, "what was allocated by then, dead or not", take_flag,
         &options.report.allocated},
        {"tree", 0, "WAY", "call tree: top-down or bottom-up; with --by class+site also types",
         take_tree, &options.report.tree},
        {"least", 0, "SIZE", "of a node of the tree: bytes, or a share (1%)", take_heap_least,
         &options.report.least},
        {"ages", 0, NULL, "how old it is", take_flag, &options.ages},
        {"heap", 0, "NAME", "of an imported dump: only this allocator's", take_text, &options.heap},
        {"top", 'n', "N", "lines of the table (20; 0: all)", take_count, &options.report.top},
        {"depth", 0, "N", "frames of a site (4; 0: all)", take_count, &options.report.depth},
        FROM_ROW(&options.from),
        {"json", 0, NULL, "as JSON", take_json, &options.report.form},
        {"csv", 0, NULL, "as CSV", take_csv, &options.report.form},
        GATE_ROWS(&options.gates),
        OBJECT_SELECTION_ROWS(&options.selected),
        DEFINITION_ROW,
        MEMORY_ROW};
    struct arguments arguments = {
        .help = &help, .rows = rows, .row_count = sizeof rows / sizeof rows[0]};
    enum step_status status;
    bool goes_on = arguments_read(&arguments, argc, argv, 1, 1, &status);
    if (options.selected.temporary) { /* of these nothing lives for long */
        options.report.allocated = true;
        if (!options.has_moment)
            options.moments[0].kind = HEAP_AT_END;
    }
    if (goes_on)
        status = check_options(&arguments, &options);
    const char *trace = arguments.operands[0];
    if (goes_on && status == STEP_STATUS_OK)
        status = options.retained                             ? run_retained(&options, trace)
                 : heap_of_dump_is_meant(trace, options.from) ? run_import(&options, trace)
                                                              : run_heap(&options, trace);
    gates_reset(&options.gates);
    return status;
}
