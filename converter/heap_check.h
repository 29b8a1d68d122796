/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of a heap trace: what is freed lives, and what lives does not overlap. */
#ifndef CONVERTER_HEAP_CHECK_H
#define CONVERTER_HEAP_CHECK_H

#include "address_map.h"
#include "name_index.h"
#include "steptrace/hatf.h"

enum heap_rule {
    HEAP_RULE_DOUBLE_FREE,
    HEAP_RULE_UNKNOWN_FREE,
    HEAP_RULE_OVERLAP,
    HEAP_RULE_REALLOC,
    HEAP_RULE_HEAP,
    HEAP_RULE_COUNT
};

enum { HEAP_CHECK_FREED = 1 << 16 };

/* Called for each breach; `text` lives until it returns. */
typedef void (*heap_breach)(void *user, enum heap_rule rule, const char *text);

struct heap_check {
    struct address_map live;
    uint64_t record_count;
    uint64_t breaches[HEAP_RULE_COUNT];
    heap_breach report;
    void *user;
    uint64_t alloc_count;
    uint64_t first_address;
    bool are_ids;                     /* addresses are numbers of objects: overlaps mean nothing */
    struct name_index heaps;          /* those that were created or used */
    uint64_t freed[HEAP_CHECK_FREED]; /* the last frees, by hash: address + 1 */
};

const char *heap_rule_text(enum heap_rule rule);

/* False: out of memory. */
bool heap_check_init(struct heap_check *check, heap_breach report, void *user);
void heap_check_reset(struct heap_check *check);
/* Takes a record of any tag; `number` is its place in the trace.  False: out of memory. */
bool heap_check_put(struct heap_check *check, const struct hatf_record *record, uint64_t number);
uint64_t heap_check_breach_count(const struct heap_check *check);

#endif
