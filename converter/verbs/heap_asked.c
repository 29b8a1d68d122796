/* SPDX-License-Identifier: Apache-2.0 */
/* Option values of `steptrace heap`, and options that exclude each other. */
#include "converter/verbs/heap_asked.h"

#include <stdio.h>
#include <string.h>

#include "converter/numbers/measures.h"

#define TOP_DEFAULT UINT64_C(20)
#define DEPTH_DEFAULT UINT64_C(4)

void heap_asked_init(struct heap_asked *asked)
{
    *asked = (struct heap_asked){
        .report = {.axes = HEAP_BY_CLASS, .top = TOP_DEFAULT, .depth = DEPTH_DEFAULT},
        .moments = {{.kind = HEAP_AT_PEAK}},
        .moment_count = 1};
    event_selection_init(&asked->selected);
}

void heap_asked_complete(struct heap_asked *asked)
{
    if (!asked->selected.temporary)
        return;
    asked->report.allocated = true; /* only allocations: these are never alive for long */
    if (!asked->has_moment)
        asked->moments[0].kind = HEAP_AT_END;
}

/* ---- values ---- */

bool take_heap_moment(void *asked_target, const char *value, const char **fault)
{
    struct heap_asked *asked = asked_target;
    asked->moment_count = 1;
    asked->has_moment = true;
    return take_moment(&asked->moments[0], value, fault);
}

bool take_heap_moments(void *asked_target, const char *value, const char **fault)
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

bool take_heap_axes(void *unsigned_target, const char *value, const char **fault)
{
    static const char *const words[] = {"class", "site", "thread", "object"};
    *fault = "class, site or thread is expected, or several with + between";
    return take_some_of(words, sizeof words / sizeof words[0], value, unsigned_target);
}

bool take_heap_tree(void *tree_target, const char *value, const char **fault)
{
    *fault = "top-down or bottom-up is expected";
    enum heap_tree tree = strcmp(value, "top-down") == 0    ? HEAP_TOP_DOWN
                          : strcmp(value, "bottom-up") == 0 ? HEAP_BOTTOM_UP
                                                            : HEAP_NO_TREE;
    *(enum heap_tree *) tree_target = tree;
    return tree != HEAP_NO_TREE;
}

bool take_heap_alive(void *bool_target, const char *value, const char **fault)
{
    (void) value, (void) fault;
    *(bool *) bool_target = false;
    return true;
}

bool take_heap_json(void *form_target, const char *value, const char **fault)
{
    (void) value, (void) fault;
    *(enum heap_form *) form_target = HEAP_AS_JSON;
    return true;
}

bool take_heap_csv(void *form_target, const char *value, const char **fault)
{
    (void) value, (void) fault;
    *(enum heap_form *) form_target = HEAP_AS_CSV;
    return true;
}

int heap_join_diff(int argc, char **argv, char *joined, size_t joined_size)
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
        return arguments_fault(arguments, "--retained is by class, by site or by object");
    if (!event_selection_is_all(&asked->selected))
        return arguments_fault(arguments,
                               "--retained is of the whole heap: no option can select a part of it "
                               "(steptrace paths IN --class=GLOB has those of a class)");
    if (asked->moment_count != 1 || asked->ages || asked->report.allocated ||
        asked->report.tree != HEAP_NO_TREE || asked->report.form == HEAP_AS_CSV ||
        asked->from != NULL)
        return arguments_fault(
            arguments, "--retained takes none of --diff, --ages, --allocated, --tree, --csv "
                       "and --from");
    return STEP_STATUS_OK;
}

static enum step_status check_gates(const struct arguments *arguments,
                                    const struct heap_asked *asked)
{
    const struct gate_rule *other = gates_find_other(&asked->gates, METRICS_OF_HEAPS);
    const struct gate_rule *change = gates_find_change(&asked->gates);
    if (other != NULL)
        return arguments_fault(arguments, "'%s': alive or alive_objects is expected", other->text);
    if (change != NULL && asked->moment_count != 2)
        return arguments_fault(arguments, "'%s' is of a change: --diff A B has two moments",
                               change->text);
    return STEP_STATUS_OK;
}

enum step_status heap_asked_check(const struct arguments *arguments, const struct heap_asked *asked)
{
    if (asked->retained)
        return check_retained(arguments, asked);
    if ((asked->report.axes & HEAP_BY_OBJECT) != 0)
        return arguments_fault(arguments, "--by object is of --retained");
    if (asked->ages && (asked->moment_count != 1 || asked->report.form != HEAP_AS_TEXT))
        return arguments_fault(arguments, "--ages is for one moment, and prints text");
    if (asked->report.tree != HEAP_NO_TREE &&
        (asked->moment_count != 1 || asked->report.form != HEAP_AS_TEXT))
        return arguments_fault(arguments, "--tree is for one moment, and prints text");
    return check_gates(arguments, asked);
}
