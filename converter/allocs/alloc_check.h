/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of a heap trace: what is freed lives, and what lives does not overlap. */
#ifndef CONVERTER_ALLOCS_ALLOC_CHECK_H
#define CONVERTER_ALLOCS_ALLOC_CHECK_H

#include "converter/allocs/address_numbers.h"
#include "converter/allocs/alloc_rules.h"
#include "converter/allocs/recent_frees.h"
#include "converter/base/address_map.h"

struct alloc_check {
    struct alloc_rules rules;
    struct address_map live;
    uint64_t record_count;
    struct address_numbers numbers;
    uint64_t numbers_overlaps; /* breaches, unless addresses are numbers throughout */
    struct recent_frees freed;
};

/* False: out of memory. */
bool alloc_check_init(struct alloc_check *check, alloc_breach report, void *user);
void alloc_check_reset(struct alloc_check *check);
/* Takes a record of any tag; `number` is its place in the trace.  False: out of memory. */
bool alloc_check_put(struct alloc_check *check, const struct hatf_record *record, uint64_t number);
/* After the last record of a trace of which nothing was lost. */
void alloc_check_finish(struct alloc_check *check);
uint64_t alloc_check_breach_count(const struct alloc_check *check);

#endif
