/* SPDX-License-Identifier: Apache-2.0 */
/* What `steptrace heap` was asked for: moments, columns, a form, rules. */
#ifndef CONVERTER_VERBS_HEAP_ASKED_H
#define CONVERTER_VERBS_HEAP_ASKED_H

#include "converter/base/arguments.h"
#include "converter/heap/heap_report.h"
#include "converter/numbers/gate_options.h"
#include "converter/trace/event_selection.h"

#define HEAP_MOMENTS_MOST 2u
#define HEAP_BY_OBJECT 8u /* of --retained, beside the bits of enum heap_axis */

struct trace_format;

struct heap_asked {
    struct heap_report report; /* its path and sites come with the heaps */
    struct heap_moment moments[HEAP_MOMENTS_MOST];
    size_t moment_count;
    bool has_moment; /* one was asked for */
    bool ages;
    bool retained; /* what objects keep, instead of what they are */
    const struct trace_format *from;
    const char *heap; /* of an imported dump: the allocator; NULL: all */
    struct event_selection selected;
    struct gates gates;
};

/* Of class at the peak, as a table.  Nothing is to be freed but the gates (gates_reset()). */
void heap_asked_init(struct heap_asked *asked);
/* Once all options are read: what some of them say of others. */
void heap_asked_complete(struct heap_asked *asked);
/* INVALID, and said to people: options that exclude each other. */
enum step_status heap_asked_check(const struct arguments *arguments,
                                  const struct heap_asked *asked);

/* Values of options, as in arguments.h: of the whole struct, */
bool take_heap_moment(void *asked_target, const char *value, const char **fault);
bool take_heap_moments(void *asked_target, const char *value, const char **fault);
/* and of its report: the axes, the tree, the form; false for what was allocated. */
bool take_heap_axes(void *unsigned_target, const char *value, const char **fault);
bool take_heap_tree(void *tree_target, const char *value, const char **fault);
bool take_heap_json(void *form_target, const char *value, const char **fault);
bool take_heap_csv(void *form_target, const char *value, const char **fault);
bool take_heap_alive(void *bool_target, const char *value, const char **fault);

/* Options take one value: `--diff A B` becomes `--diff=A,B`, which stands in `joined`.  Gives how
 * many words are left. */
int heap_join_diff(int argc, char **argv, char *joined, size_t joined_size);

#endif
