/* SPDX-License-Identifier: Apache-2.0 */
/* Checks heap traces: the rules for allocations and frees. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "converter/commands/check_run.h"
#include "converter/containers/address_map.h"
#include "converter/containers/no_memory.h"
#include "converter/numbers/quantity.h"
#include "converter/trace/alloc_rules.h"
#include "converter/trace/alloc_source.h"
#include "converter/trace/recent_frees.h"

/* ---- state of the check ----
 * Live blocks, and recent frees, which distinguish a double free from a free of an unknown address.
 * An overlapping block is reported once, and replaces the other only if both begin at the same
 * address. */

struct alloc_check {
    struct check_run *run;
    struct alloc_rules rules;
    struct address_map live;
    uint64_t record_count;
    struct address_numbers numbers;
    uint64_t numbers_overlaps; /* breaches, unless addresses turn out to be object numbers */
    struct recent_frees freed;
    bool is_running;
    bool is_finished; /* later breaches concern the whole trace */
};

static struct alloc_check check; /* large */

static void report_overlap(const struct hatf_record *record, const struct address_block *other)
{
    alloc_rules_breach(&check.rules, ALLOC_RULE_OVERLAP,
                       "%" PRIu64 " bytes at address %" PRIu64 " overlap the %" PRIu64
                       " bytes at %" PRIu64 " of record %" PRIu64,
                       record->size, record->address, other->size, other->address, other->record);
}

/* If addresses are not object numbers after all, the previous overlaps were breaches. */
static void deny_numbers(void)
{
    if (check.numbers_overlaps > 0)
        alloc_rules_breach(&check.rules, ALLOC_RULE_OVERLAP,
                           "%" PRIu64 " allocations before this one overlap others",
                           check.numbers_overlaps);
    check.numbers_overlaps = 0;
}

static bool check_allocs_take(const struct hatf_record *record, uint64_t number)
{
    bool are_numbers = address_numbers_put(&check.numbers, record);
    const struct address_block *other =
        address_map_overlap(&check.live, record->address, record->size);
    if (!are_numbers)
        deny_numbers();
    if (other != NULL && (!are_numbers || address_map_find(&check.live, record->address) != NULL))
        report_overlap(record, other);
    else if (other != NULL)
        check.numbers_overlaps++;
    return address_map_put(&check.live, &(struct address_block){.address = record->address,
                                                                .size = record->size,
                                                                .heap = record->heap,
                                                                .record = number});
}

static void check_allocs_take_free(const struct hatf_record *record)
{
    const struct address_block *block = address_map_find(&check.live, record->address);
    if (block != NULL && block->heap != record->heap)
        alloc_rules_breach(&check.rules, ALLOC_RULE_HEAP,
                           "address %" PRIu64 " is freed in heap %" PRIu64
                           ", but was allocated in heap %" PRIu64,
                           record->address, record->heap, block->heap);
    if (address_map_remove(&check.live, record->address))
        recent_frees_add(&check.freed, record->address);
    else if (recent_frees_have(&check.freed, record->address))
        alloc_rules_breach(&check.rules, ALLOC_RULE_DOUBLE_FREE,
                           "address %" PRIu64 " is freed twice", record->address);
    else
        alloc_rules_breach(&check.rules, ALLOC_RULE_UNKNOWN_FREE,
                           "address %" PRIu64 " is freed, but is not allocated", record->address);
}

/* A block resized in place must not grow over other blocks. */
static void check_allocs_resize(const struct hatf_record *record, struct address_block *block)
{
    const struct address_block *other = address_map_overgrown(&check.live, block, record->size);
    if (other != NULL && address_numbers_hold(&check.numbers))
        check.numbers_overlaps++;
    else if (other != NULL)
        report_overlap(record, other);
    address_map_resize(&check.live, block, record->size);
}

static void check_allocs_take_realloc(const struct hatf_record *record)
{
    struct address_block *block = address_map_find(&check.live, record->address);
    if (record->tag == HATF_REALLOC_ALLOC) {
        if (record->address != 0)
            alloc_rules_breach(&check.rules, ALLOC_RULE_REALLOC,
                               "a realloc that frees nothing has the old address %" PRIu64,
                               record->address);
        return;
    }
    if (block == NULL) {
        alloc_rules_breach(&check.rules, ALLOC_RULE_REALLOC,
                           "realloc of address %" PRIu64 ", which is not allocated",
                           record->address);
        return;
    }
    if (record->tag != HATF_REALLOC_NO_ALLOC || record->new_address == 0)
        return;
    if (record->new_address != record->address)
        alloc_rules_breach(&check.rules, ALLOC_RULE_REALLOC,
                           "a realloc in place goes from address %" PRIu64 " to %" PRIu64,
                           record->address, record->new_address);
    else
        check_allocs_resize(record, block);
}

/* Adds a record of any tag; `number` is its position in the trace.  Returns false if memory runs
 * out. */
static bool alloc_check_put(const struct hatf_record *record, uint64_t number)
{
    if (!alloc_rules_put(&check.rules, record))
        return false;
    switch (record->tag) {
    case HATF_ALLOC:
        return check_allocs_take(record, number);
    case HATF_FREE:
        check_allocs_take_free(record);
        return true;
    case HATF_REALLOC_NO_ALLOC:
    case HATF_REALLOC_ALLOC_FREE:
    case HATF_REALLOC_ALLOC:
    case HATF_REALLOC_FREE:
        check_allocs_take_realloc(record);
        return true;
    case HATF_DESTROY_HEAP:
        address_map_remove_heap(&check.live, record->heap);
        return true;
    case HATF_COMMENT:
        address_numbers_put(&check.numbers, record);
        return true;
    default:
        return true;
    }
}

static void print_breach(void *user, enum alloc_rule rule, const char *text)
{
    struct json_output *json = check.run->json;
    struct alloc_source *allocs = check.run->input->allocs;
    uint64_t offset = check.is_finished ? STEP_NO_OFFSET : allocs->offset;
    (void) user;
    if (!check_run_prints(check.run))
        return;
    if (json != NULL) {
        json_begin_object(json, NULL);
        json_text(json, "rule", alloc_rule_text(rule));
        if (!check.is_finished)
            json_number(json, "record", allocs->number);
        if (offset != STEP_NO_OFFSET)
            json_number(json, "offset", offset);
        json_text(json, "text", text);
        json_end_object(json);
        return;
    }
    if (check.is_finished)
        printf("at the end");
    else
        printf("record %" PRIu64, allocs->number);
    if (offset != STEP_NO_OFFSET)
        printf(", offset %" PRIu64, offset);
    printf(": %s\n", text);
}

static enum step_status visit_record(void *user, const struct hatf_record *record,
                                     struct step_error *error)
{
    (void) user;
    check.record_count++;
    return check.is_running || alloc_check_put(record, check.run->input->allocs->number)
               ? STEP_STATUS_OK
               : no_memory(error);
}

static void check_allocs_print_verdict(struct check_run *run, bool is_damaged)
{
    check.is_finished = true;
    if (!is_damaged)
        alloc_rules_finish(&check.rules);
    uint64_t count = check_run_breach_count(run);
    const char *verdict = count > 0          ? "breached"
                          : check.is_running ? "running"
                          : is_damaged       ? "damaged"
                                             : "consistent";
    if (run->json != NULL) {
        check_run_put_verdict(run, verdict, check.record_count);
        json_number(run->json, "live_at_end", check.live.count);
        check_run_put_rules(run);
        return;
    }
    if (check.is_running) {
        printf("%" PRIu64
               " records: its process still runs, and the rules apply to complete traces\n",
               check.record_count);
        return;
    }
    check_run_print_rules(run);
    printf("%" PRIu64 " records: ", check.record_count);
    if (count > 0)
        printf("%" PRIu64 " %s\n", count, breaches(count));
    else
        printf("%s, %zu object%s live at the end\n",
               is_damaged ? "no breach in the part that could be read" : verdict, check.live.count,
               plural(check.live.count));
}

static const char *rule_text(unsigned rule)
{
    return alloc_rule_text((enum alloc_rule) rule);
}

enum step_status check_allocs(struct check_run *run)
{
    memset(&check, 0, sizeof check);
    check.run = run;
    check.is_running = trace_summary_of(&run->input->allocs->about).running;
    run->breaches = check.rules.breaches;
    run->rule_end = ALLOC_RULE_COUNT;
    run->rule_text = rule_text;
    alloc_rules_init(&check.rules, print_breach, NULL);
    enum step_status status = check_run_judge(run, input_each_alloc(run->input, visit_record, NULL),
                                              check_allocs_print_verdict);
    address_map_reset(&check.live);
    alloc_rules_reset(&check.rules);
    return status;
}
