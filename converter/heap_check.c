/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live blocks, and a table of the last frees, by which a double free is told from a free of
 * what never lived.  A block that overlaps is reported once and takes the place of the one it
 * overlaps only where both begin at the same address.
 */
#include "heap_check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *heap_rule_text(enum heap_rule rule)
{
    static const char *const texts[HEAP_RULE_COUNT] = {
        "objects are freed once", "what is freed was allocated", "objects do not overlap",
        "realloc is of what lives", "heaps are destroyed once"};
    return texts[rule];
}

bool heap_check_init(struct heap_check *check, heap_breach report, void *user)
{
    memset(check, 0, sizeof *check);
    check->report = report;
    check->user = user;
    return name_index_init(&check->heaps);
}

void heap_check_reset(struct heap_check *check)
{
    address_map_reset(&check->live);
    name_index_reset(&check->heaps);
}

uint64_t heap_check_breach_count(const struct heap_check *check)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < HEAP_RULE_COUNT; i++)
        count += check->breaches[i];
    return count;
}

__attribute__((format(printf, 3, 4))) static void breach(struct heap_check *check,
                                                         enum heap_rule rule, const char *format,
                                                         ...)
{
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    check->breaches[rule]++;
    check->report(check->user, rule, text);
}

static uint64_t *freed_slot(struct heap_check *check, uint64_t address)
{
    uint64_t hash = address * UINT64_C(0x9e3779b97f4a7c15);
    return &check->freed[hash >> 48 & (HEAP_CHECK_FREED - 1)];
}

/* Two neighbours as close as 1 are numbers of objects, as `convert --addresses=id` gives them. */
static void look_at_addresses(struct heap_check *check, uint64_t address)
{
    if (check->alloc_count++ == 0)
        check->first_address = address;
    else if (check->alloc_count == 2)
        check->are_ids = address - check->first_address == 1;
}

static bool take_alloc(struct heap_check *check, const struct hatf_record *record, uint64_t number)
{
    look_at_addresses(check, record->address);
    const struct address_block *other =
        check->are_ids ? address_map_find(&check->live, record->address)
                       : address_map_overlap(&check->live, record->address, record->size);
    /* Before the second allocation nobody knows that these are numbers; there is but one block. */
    if (other != NULL)
        breach(check, HEAP_RULE_OVERLAP,
               "%" PRIu64 " bytes at address %" PRIu64 " overlap the %" PRIu64 " bytes at %" PRIu64
               " of record %" PRIu64,
               record->size, record->address, other->size, other->address, other->record);
    return address_map_put(&check->live, &(struct address_block){.address = record->address,
                                                                 .size = record->size,
                                                                 .heap = record->heap,
                                                                 .record = number});
}

static void take_free(struct heap_check *check, const struct hatf_record *record)
{
    uint64_t *freed = freed_slot(check, record->address);
    if (address_map_remove(&check->live, record->address))
        *freed = record->address + 1;
    else if (*freed == record->address + 1)
        breach(check, HEAP_RULE_DOUBLE_FREE, "address %" PRIu64 " is freed twice", record->address);
    else
        breach(check, HEAP_RULE_UNKNOWN_FREE,
               "address %" PRIu64 " is freed, but nothing lives there", record->address);
}

static void take_realloc(struct heap_check *check, const struct hatf_record *record)
{
    struct address_block *block = address_map_find(&check->live, record->address);
    if (record->tag == HATF_REALLOC_ALLOC) {
        if (record->address != 0)
            breach(check, HEAP_RULE_REALLOC,
                   "a realloc that frees nothing has the old address %" PRIu64, record->address);
        return;
    }
    if (block == NULL) {
        breach(check, HEAP_RULE_REALLOC, "realloc of address %" PRIu64 ", but nothing lives there",
               record->address);
        return;
    }
    if (record->tag != HATF_REALLOC_NO_ALLOC || record->new_address == 0)
        return;
    if (record->new_address != record->address)
        breach(check, HEAP_RULE_REALLOC,
               "a realloc in place goes from address %" PRIu64 " to %" PRIu64, record->address,
               record->new_address);
    else
        address_map_resize(&check->live, block, record->size);
}

static bool take_heap(struct heap_check *check, const struct hatf_record *record)
{
    static const struct step_bytes nothing = {(const uint8_t *) "", 0};
    bool is_new;
    bool is_created = record->tag == HATF_CREATE_HEAP;
    bool is_known = name_index_find(&check->heaps, record->heap, nothing) != 0;
    if (!is_created && !is_known && record->heap != 0)
        breach(check, HEAP_RULE_HEAP, "heap %" PRIu64 " is destroyed, but was not created",
               record->heap);
    if (!is_created)
        address_map_remove_heap(&check->live, record->heap);
    return name_index_put(&check->heaps, record->heap, nothing, &is_new) != 0;
}

bool heap_check_put(struct heap_check *check, const struct hatf_record *record, uint64_t number)
{
    check->record_count++;
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
    case HATF_CREATE_HEAP:
    case HATF_DESTROY_HEAP:
        return take_heap(check, record);
    default:
        return true;
    }
}
