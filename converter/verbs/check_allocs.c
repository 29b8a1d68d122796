/* SPDX-License-Identifier: Apache-2.0 */
/* Checks heap traces: the rules for allocations and frees. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/base/address_map.h"
#include "converter/base/no_memory.h"
#include "converter/base/quantity.h"
#include "converter/trace/alloc_rules.h"
#include "converter/trace/alloc_source.h"
#include "converter/trace/recent_frees.h"
#include "converter/verbs/check_run.h"

/*
 * State of the check: live blocks, and recent frees, which distinguish a double free from a free of
 * an unknown address.  An overlapping block is reported once, and replaces the other only if both
 * begin at the same address.
 */

struct alloc_check {
    struct alloc_rules rules;
    struct address_map live;
    uint64_t record_count;
    struct address_numbers numbers;
    uint64_t numbers_overlaps; /* breaches, unless addresses turn out to be object numbers */
    struct recent_frees freed;
};

static uint64_t alloc_check_breach_count(const struct alloc_check *check)
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

/* If addresses are not object numbers after all, the previous overlaps were breaches. */
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

/* A block resized in place must not grow over other blocks. */
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

/* Adds a record of any tag; `number` is its position in the trace.  Returns false if memory runs
 * out. */
static bool alloc_check_put(struct alloc_check *check, const struct hatf_record *record,
                            uint64_t number)
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

struct heap_check {
    struct check_run base;
    struct alloc_check check;
    bool is_running;
    bool is_finished; /* later breaches concern the whole trace */
};

static struct heap_check *of(struct check_run *run)
{
    return (struct heap_check *) run;
}

static void put_heap_breach(const struct heap_check *run, enum alloc_rule rule, const char *text)
{
    struct json_output *json = run->base.json;
    struct alloc_source *allocs = run->base.input->allocs;
    uint64_t offset = allocs->offset;
    json_begin_object(json, NULL);
    json_text(json, "rule", alloc_rule_text(rule));
    if (!run->is_finished)
        json_number(json, "record", allocs->number);
    if (!run->is_finished && offset != STEP_NO_OFFSET)
        json_number(json, "offset", offset);
    json_text(json, "text", text);
    json_end_object(json);
}

static void print_heap_breach(void *user, enum alloc_rule rule, const char *text)
{
    struct heap_check *run = user;
    struct alloc_source *allocs = run->base.input->allocs;
    uint64_t offset = allocs->offset;
    if (!check_run_prints(&run->base))
        return;
    if (run->base.json != NULL) {
        put_heap_breach(run, rule, text);
        return;
    }
    if (run->is_finished)
        printf("at the end");
    else
        printf("record %" PRIu64, allocs->number);
    if (!run->is_finished && offset != STEP_NO_OFFSET)
        printf(", offset %" PRIu64, offset);
    printf(": %s\n", text);
}

static enum step_status visit_record(void *user, const struct hatf_record *record,
                                     struct step_error *error)
{
    struct heap_check *run = user;
    return alloc_check_put(&run->check, record, run->base.input->allocs->number) ? STEP_STATUS_OK
                                                                                 : no_memory(error);
}

static enum step_status count_record(void *user, const struct hatf_record *record,
                                     struct step_error *error)
{
    struct heap_check *run = user;
    (void) record, (void) error;
    run->check.record_count++;
    return STEP_STATUS_OK;
}

static void print_heap_verdict(const struct check_run *run, const struct alloc_check *check,
                               bool is_damaged)
{
    uint64_t count = alloc_check_breach_count(check);
    if (count > run->printed)
        printf("and %" PRIu64 " more (--limit=N prints more)\n", count - run->printed);
    for (unsigned rule = 0; rule < ALLOC_RULE_COUNT; rule++)
        if (check->rules.breaches[rule] > 0)
            printf("%s: %" PRIu64 " %s\n", alloc_rule_text((enum alloc_rule) rule),
                   check->rules.breaches[rule], breaches(check->rules.breaches[rule]));
    printf("%" PRIu64 " records: ", check->record_count);
    if (count > 0)
        printf("%" PRIu64 " %s\n", count, breaches(count));
    else
        printf("%s, %zu object%s live at the end\n",
               is_damaged ? "no breach in what could be read" : "consistent", check->live.count,
               plural(check->live.count));
}

static void put_heap_verdict(struct heap_check *heap, bool is_damaged)
{
    struct check_run *run = &heap->base;
    const struct alloc_check *check = &heap->check;
    uint64_t count = alloc_check_breach_count(check);
    check_run_put_verdict(run,
                          count > 0          ? "breached"
                          : heap->is_running ? "running"
                          : is_damaged       ? "damaged"
                                             : "consistent",
                          check->record_count, count);
    json_number(run->json, "live_at_end", check->live.count);
    json_begin_array(run->json, "rules");
    for (unsigned rule = 0; rule < ALLOC_RULE_COUNT; rule++) {
        json_begin_object(run->json, NULL);
        json_text(run->json, "rule", alloc_rule_text((enum alloc_rule) rule));
        json_number(run->json, "breaches", check->rules.breaches[rule]);
        json_end_object(run->json);
    }
    json_end_array(run->json);
}

static enum step_status read_allocs(struct check_run *run)
{
    return input_each_alloc(run->input, of(run)->is_running ? count_record : visit_record, run);
}

static void print_verdict(struct check_run *run, bool is_damaged)
{
    struct heap_check *heap = of(run);
    heap->is_finished = true;
    if (!is_damaged)
        alloc_rules_finish(&heap->check.rules);
    if (run->json != NULL)
        put_heap_verdict(heap, is_damaged);
    else if (heap->is_running)
        printf("%" PRIu64 " records: its process still runs, and the rules are of whole traces\n",
               heap->check.record_count);
    else
        print_heap_verdict(run, &heap->check, is_damaged);
}

static uint64_t breach_count(const struct check_run *run)
{
    return alloc_check_breach_count(&((const struct heap_check *) run)->check);
}

static void destroy(struct check_run *run)
{
    address_map_reset(&of(run)->check.live);
    alloc_rules_reset(&of(run)->check.rules);
    free(run);
}

static const struct check_operations operations = {
    .read = read_allocs,
    .print_verdict = print_verdict,
    .breach_count = breach_count,
    .destroy = destroy,
};

struct check_run *alloc_check_create(struct input *input)
{
    struct trace_summary summary;
    struct heap_check *heap = calloc(1, sizeof *heap);
    if (heap == NULL || !alloc_rules_init(&heap->check.rules, print_heap_breach, heap)) {
        free(heap);
        return NULL;
    }
    summary = trace_summary_of(&input->allocs->about);
    heap->base.operations = &operations;
    heap->is_running = summary.running;
    return &heap->base;
}
