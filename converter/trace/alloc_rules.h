/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the rules of a heap trace that do not depend on which addresses are in use: threads and
 * heaps are created before they are used, times do not decrease, the alloc and the free of a
 * realloc follow it, and blocks end within the address space (docs/formats/hatf.md, "What check
 * tests").
 */
#ifndef CONVERTER_TRACE_ALLOC_RULES_H
#define CONVERTER_TRACE_ALLOC_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "converter/containers/object_table.h"
#include "steptrace/hatf.h"

enum alloc_rule {
    ALLOC_RULE_DOUBLE_FREE,
    ALLOC_RULE_UNKNOWN_FREE,
    ALLOC_RULE_OVERLAP,
    ALLOC_RULE_REALLOC,
    ALLOC_RULE_HEAP,
    ALLOC_RULE_THREAD,
    ALLOC_RULE_TIME,
    ALLOC_RULE_RANGE,
    ALLOC_RULE_COUNT
};
const char *alloc_rule_text(enum alloc_rule rule);

/* Reports one breach.  `text` is valid during the call only. */
typedef void (*alloc_breach)(void *user, enum alloc_rule rule, const char *text);

struct known_thread;

struct alloc_rules {
    uint64_t breaches[ALLOC_RULE_COUNT];
    alloc_breach report;
    void *user;
    bool has_records;    /* other than comments */
    bool names_threads;  /* the first record was a createThread: every thread must be created */
    bool has_one_number; /* thread numbers were omitted from the trace: all are 0 */
    uint64_t last_time;
    struct object_table thread_places; /* by id: index into `threads` */
    struct known_thread *threads;
    size_t thread_count, thread_capacity;
    struct object_table heaps; /* by id: enum known_state */
};

void alloc_rules_init(struct alloc_rules *rules, alloc_breach report, void *user);
void alloc_rules_reset(struct alloc_rules *rules);
/* Checks the next record, of any tag.  Returns false if out of memory. */
bool alloc_rules_put(struct alloc_rules *rules, const struct hatf_record *record);
/* Checks the end of a complete trace: no realloc is still missing its alloc or free. */
void alloc_rules_finish(struct alloc_rules *rules);
/* Counts and reports a breach that the caller found. */
void alloc_rules_breach(struct alloc_rules *rules, enum alloc_rule rule, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
