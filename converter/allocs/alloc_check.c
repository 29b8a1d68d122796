/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live blocks, and a table of the last frees, by which a double free is distinguished from a
 * free of what never lived.  A block that overlaps is reported once and takes the place of the one
 * it overlaps only where both begin at the same address.
 */
#include "converter/allocs/alloc_check.h"

#include <inttypes.h>
#include <string.h>

bool alloc_check_init(struct alloc_check *check, alloc_breach report, void *user)
{
    memset(check, 0, sizeof *check);
    return alloc_rules_init(&check->rules, report, user);
}

void alloc_check_reset(struct alloc_check *check)
{
    address_map_reset(&check->live);
    alloc_rules_reset(&check->rules);
}

uint64_t alloc_check_breach_count(const struct alloc_check *check)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < ALLOC_RULE_COUNT; i++)
        count += check->rules.breaches[i];
    return count;
}

static void report_overlap(struct alloc_check *check, const struct hatf_record *record,
                           const struct address_block *other)
{
    alloc_rules_breach(&check->rules, ALLOC_RULE_OVERLAP,
                       "%" PRIu64 " bytes at address %" PRIu64 " overlap the %" PRIu64
                       " bytes at %" PRIu64 " of record %" PRIu64,
                       record->size, record->address, other->size, other->address, other->record);
}

/* Where addresses are no numbers after all, the overlaps until then were breaches. */
static void deny_numbers(struct alloc_check *check)
{
    if (check->numbers_overlaps > 0)
        alloc_rules_breach(&check->rules, ALLOC_RULE_OVERLAP,
                           "%" PRIu64 " allocations before this one overlap others",
                           check->numbers_overlaps);
    check->numbers_overlaps = 0;
}

static bool take_alloc(struct alloc_check *check, const struct hatf_record *record, uint64_t number)
{
    bool are_numbers = address_numbers_put(&check->numbers, record);
    const struct address_block *other =
        address_map_overlap(&check->live, record->address, record->size);
    if (!are_numbers)
        deny_numbers(check);
    if (other != NULL && (!are_numbers || address_map_find(&check->live, record->address) != NULL))
        report_overlap(check, record, other);
    else if (other != NULL)
        check->numbers_overlaps++;
    return address_map_put(&check->live, &(struct address_block){.address = record->address,
                                                                 .size = record->size,
                                                                 .heap = record->heap,
                                                                 .record = number});
}

static void take_free(struct alloc_check *check, const struct hatf_record *record)
{
    const struct address_block *block = address_map_find(&check->live, record->address);
    if (block != NULL && block->heap != record->heap)
        alloc_rules_breach(&check->rules, ALLOC_RULE_HEAP,
                           "address %" PRIu64 " is freed in heap %" PRIu64
                           ", but was allocated in heap %" PRIu64,
                           record->address, record->heap, block->heap);
    if (address_map_remove(&check->live, record->address))
        recent_frees_add(&check->freed, record->address);
    else if (recent_frees_have(&check->freed, record->address))
        alloc_rules_breach(&check->rules, ALLOC_RULE_DOUBLE_FREE,
                           "address %" PRIu64 " is freed twice", record->address);
    else
        alloc_rules_breach(&check->rules, ALLOC_RULE_UNKNOWN_FREE,
                           "address %" PRIu64 " is freed, but nothing lives there",
                           record->address);
}

/* In place: what the block grows over must be free. */
static void resize(struct alloc_check *check, const struct hatf_record *record,
                   struct address_block *block)
{
    const struct address_block *other = address_map_overgrown(&check->live, block, record->size);
    if (other != NULL && address_numbers_hold(&check->numbers))
        check->numbers_overlaps++;
    else if (other != NULL)
        report_overlap(check, record, other);
    address_map_resize(&check->live, block, record->size);
}

static void take_realloc(struct alloc_check *check, const struct hatf_record *record)
{
    struct address_block *block = address_map_find(&check->live, record->address);
    if (record->tag == HATF_REALLOC_ALLOC) {
        if (record->address != 0)
            alloc_rules_breach(&check->rules, ALLOC_RULE_REALLOC,
                               "a realloc that frees nothing has the old address %" PRIu64,
                               record->address);
        return;
    }
    if (block == NULL) {
        alloc_rules_breach(&check->rules, ALLOC_RULE_REALLOC,
                           "realloc of address %" PRIu64 ", but nothing lives there",
                           record->address);
        return;
    }
    if (record->tag != HATF_REALLOC_NO_ALLOC || record->new_address == 0)
        return;
    if (record->new_address != record->address)
        alloc_rules_breach(&check->rules, ALLOC_RULE_REALLOC,
                           "a realloc in place goes from address %" PRIu64 " to %" PRIu64,
                           record->address, record->new_address);
    else
        resize(check, record, block);
}

bool alloc_check_put(struct alloc_check *check, const struct hatf_record *record, uint64_t number)
{
    check->record_count++;
    if (!alloc_rules_put(&check->rules, record))
        return false;
    switch (record->tag) {
    case HATF_ALLOC:
        return take_alloc(check, record, number);
    case HATF_FREE:
        take_free(check, record);
        return true;
    case HATF_REALLOC_NO_ALLOC:
    case HATF_REALLOC_ALLOC_FREE:
    case HATF_REALLOC_ALLOC:
    case HATF_REALLOC_FREE:
        take_realloc(check, record);
        return true;
    case HATF_DESTROY_HEAP:
        address_map_remove_heap(&check->live, record->heap);
        return true;
    case HATF_COMMENT:
        address_numbers_put(&check->numbers, record);
        return true;
    default:
        return true;
    }
}

void alloc_check_finish(struct alloc_check *check)
{
    alloc_rules_finish(&check->rules);
}
