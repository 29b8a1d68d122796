/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace heap: what lives at a moment, or was allocated by then, and where it came from. */
#include "converter/base/given_definition.h"
#include "converter/base/memory_limit.h"
#include "converter/events/selection_options.h"
#include "converter/verb_parts/heap/heap_from_dump.h"
#include "converter/verb_parts/heap/heap_from_trace.h"
#include "converter/verb_parts/heap_of_dump.h"
#include "converter/verb_parts/keepers_of_trace.h"
#include "converter/verbs/verb.h"

static const struct verb_help help = {
    .name = "heap",
    .operands = "IN [OPTION]...",
    .text =
        "Tells what lived at a moment of the trace, by class, by call site (the agent's option\n"
        "stack=N, or method events) or by thread: as a table, as a tree of calls, or as the\n"
        "difference of two moments. A moment is peak, end, a time, or gc:N.\n",
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

static enum step_status run(struct heap_asked *asked, const char *path)
{
    size_t failed = 0;
    if (asked->retained)
        return run_retained(asked, path);
    enum step_status status = heap_of_dump_is_meant(path, asked->from)
                                  ? heap_from_dump(asked, path, &failed)
                                  : heap_from_trace(asked, path, &failed);
    if (failed > 0)
        verb_exit_code = VERB_EXIT_GATE;
    return status;
}

enum step_status verb_heap(int argc, char **argv)
{
    struct heap_asked asked;
    char joined[128];
    heap_asked_init(&asked);
    argc = heap_join_diff(argc, argv, joined, sizeof joined);
    const struct option_row rows[] = {
        {"at", 0, "MOMENT", "peak (default), end, gc:N or a time (200ms, 1.5s; plain: ns)",
         take_heap_moment, &asked},
        {"diff", 0, "A B", "what changed from moment A to moment B", take_heap_moments, &asked},
        {"retained", 0, NULL, "what would go with it (by class, site or object)", take_flag,
         &asked.retained},
        {"by", 0, "WHAT", "class (default), site, thread, or several: class+site", take_heap_axes,
         &asked.report.axes},
        {"alive", 0, NULL, "what lives at the moment (default)", take_heap_alive,
         &asked.report.allocated},
        {"allocated", 0, NULL, "what was allocated by then, dead or not", take_flag,
         &asked.report.allocated},
        {"tree", 0, "WAY", "call tree: top-down or bottom-up; with --by class+site also types",
         take_heap_tree, &asked.report.tree},
        {"least", 0, "SIZE", "of a node of the tree: bytes, or a share (1%)", take_heap_least,
         &asked.report.least},
        {"ages", 0, NULL, "how old it is", take_flag, &asked.ages},
        {"heap", 0, "NAME", "of an imported dump: only this allocator's", take_text, &asked.heap},
        {"top", 'n', "N", "lines of the table (20; 0: all)", take_count, &asked.report.top},
        {"depth", 0, "N", "frames of a site (4; 0: all)", take_count, &asked.report.depth},
        FROM_ROW(&asked.from),
        {"json", 0, NULL, "as JSON", take_heap_json, &asked.report.form},
        {"csv", 0, NULL, "as CSV", take_heap_csv, &asked.report.form},
        GATE_ROWS(&asked.gates),
        OBJECT_SELECTION_ROWS(&asked.selected),
        DEFINITION_ROW,
        MEMORY_ROW};
    struct arguments arguments = {
        .help = &help, .rows = rows, .row_count = sizeof rows / sizeof rows[0]};
    enum step_status status;
    bool goes_on = arguments_read(&arguments, argc, argv, 1, 1, &status);
    heap_asked_complete(&asked);
    if (goes_on)
        status = heap_asked_check(&arguments, &asked);
    if (goes_on && status == STEP_STATUS_OK)
        status = run(&asked, arguments.operands[0]);
    gates_reset(&asked.gates);
    return status;
}
