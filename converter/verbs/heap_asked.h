/* SPDX-License-Identifier: Apache-2.0 */
/* The request of `steptrace heap`: moments, columns, output form, rules. */
#ifndef CONVERTER_VERBS_HEAP_ASKED_H
#define CONVERTER_VERBS_HEAP_ASKED_H

#include "converter/base/arguments.h"
#include "converter/heap/heap_report.h"
#include "converter/numbers/gate_rule.h"
#include "converter/trace/event_selection.h"

#define HEAP_MOMENTS_MOST 2u
#define HEAP_BY_OBJECT 8u /* with --retained, beside the bits of enum heap_axis */

struct trace_format;

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

/* Sets the defaults: classes at the peak, as a table.  Only the gates need to be freed
 * (gates_reset()). */
void heap_asked_init(struct heap_asked *asked);
/* Applies options that affect others.  Call once all options are read. */
void heap_asked_complete(struct heap_asked *asked);
/* Reports options that exclude each other and returns INVALID. */
enum step_status heap_asked_check(const struct arguments *arguments,
                                  const struct heap_asked *asked);

/* Parsers of option values (arguments.h), for the whole struct, */
bool take_heap_moment(void *asked_target, const char *value, const char **fault);
bool take_heap_moments(void *asked_target, const char *value, const char **fault);
/* and for members of its report: the axes, the tree, the form, and `allocated`, which --alive
 * clears. */
bool take_heap_axes(void *unsigned_target, const char *value, const char **fault);
bool take_heap_tree(void *tree_target, const char *value, const char **fault);
bool take_heap_json(void *form_target, const char *value, const char **fault);
bool take_heap_csv(void *form_target, const char *value, const char **fault);
bool take_heap_alive(void *bool_target, const char *value, const char **fault);

/* Options take one value: joins `--diff A B` to `--diff=A,B`, which is stored in `joined`.  Returns
 * the new number of words. */
int heap_join_diff(int argc, char **argv, char *joined, size_t joined_size);

#endif
