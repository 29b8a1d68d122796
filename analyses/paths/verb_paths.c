/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace paths: shows why objects are reachable. */
#include "converter/cli/verb.h"
#include "converter/graph/keepers_of_trace.h"
#include "converter/trace/selection_options.h"

VERB(paths);

static const struct verb_help help = {
    "paths", "IN [OBJECT] [OPTION]...",
    "Shows what keeps an object, or all objects of a class, alive: the shortest paths to\n"
    "them from roots, with paths through the same fields of the same classes merged. IN\n"
    "is a .step file with reference events (events=reference) or snapshots\n"
    "(snapshot=...). A moment is end, peak, a time, or gc:N.\n"};

/* Unlike take_globs(), takes an empty pattern, which matches nothing. */
static bool verb_paths_take_class(void *globs_target, const char *value, const char **fault)
{
    struct selected_globs *globs = globs_target;
    *fault = "at most 16 patterns can be given";
    if (globs->count == SELECTED_GLOBS_MOST)
        return false;
    globs->items[globs->count++] = value;
    return true;
}

enum step_status verb_paths(int argc, char **argv)
{
    struct keepers_options options = {.moment = {.kind = HEAP_AT_END}, .top = 20};
    struct selected_globs classes = {.count = 0};
    struct keeper_choice choice = {.classes = &classes};
    const char *fault;
    const struct option_row rows[] = {
        {"at", 0, "MOMENT", "end (default), peak, gc:N or a time (200ms, 1.5s; plain: s)",
         take_moment, &options.moment},
        {"class", 0, "GLOB", "objects of classes that match (* stops at /, ** does not)",
         verb_paths_take_class, &classes},
        {"top", 0, "N", "number of paths (20; 0: all)", take_count, &options.top},
        {"json", 0, NULL, "print JSON", take_flag, &options.as_json},
        READING_ROWS};
    struct arguments arguments = ARGUMENTS_OF(help, rows);
    if (!arguments_read(&arguments, argc, argv, 1, 2))
        return arguments.status;
    if (arguments_refuse_files(&arguments) != STEP_STATUS_OK)
        return STEP_STATUS_INVALID;
    if ((arguments.operand_count == 2) == (classes.count > 0))
        return arguments_fault(&arguments, "an object's number or --class=GLOB is expected");
    if (arguments.operand_count == 2 &&
        (!take_count(&choice.object, arguments.operands[1], &fault) || choice.object == 0))
        return arguments_fault(&arguments, "'%s' is not an object's number", arguments.operands[1]);
    return keepers_print_paths(arguments.operands[0], &options, &choice);
}
