/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of a heap trace that do not depend on what lives where: threads and heaps are created
 * before they are used, times do not go back, the alloc and the free of a realloc follow it, and a
 * block ends within the address space (docs/formats/hatf.md, "What check tests").
 */
#ifndef CONVERTER_RECORD_RULES_H
#define CONVERTER_RECORD_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "converter/base/object_table.h"
#include "steptrace/hatf.h"

enum heap_rule {
    HEAP_RULE_DOUBLE_FREE,
    HEAP_RULE_UNKNOWN_FREE,
    HEAP_RULE_OVERLAP,
    HEAP_RULE_REALLOC,
    HEAP_RULE_HEAP,
    HEAP_RULE_THREAD,
    HEAP_RULE_TIME,
    HEAP_RULE_RANGE,
    HEAP_RULE_COUNT
};
const char *heap_rule_text(enum heap_rule rule);

/* Called for each breach; `text` lives until it returns. */
typedef void (*heap_breach)(void *user, enum heap_rule rule, const char *text);

struct known_thread;

struct record_rules {
    uint64_t breaches[HEAP_RULE_COUNT];
    heap_breach report;
    void *user;
    bool has_records;    /* other than comments */
    bool names_threads;  /* the first was a createThread: all threads are told of */
    bool has_one_number; /* the threads' numbers were left out: all are 0 */
    uint64_t last_time;
    struct object_table thread_places; /* by id: the place in `threads` */
    struct known_thread *threads;
    size_t thread_count, thread_capacity;
    struct object_table heaps; /* by id: how it stands with the heap */
};

/* False: out of memory. */
bool record_rules_init(struct record_rules *rules, heap_breach report, void *user);
void record_rules_reset(struct record_rules *rules);
/* Takes the next record, of any tag.  False: out of memory. */
bool record_rules_put(struct record_rules *rules, const struct hatf_record *record);
/* The trace has ended, and nothing of it was lost: no realloc waits for records of its own. */
void record_rules_finish(struct record_rules *rules);
/* Counts and reports a breach that the caller found. */
void record_rules_breach(struct record_rules *rules, enum heap_rule rule, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
