/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of heap traces. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "converter/allocs/alloc_check.h"
#include "converter/base/no_memory.h"
#include "converter/verb_parts/check_run.h"

struct heap_check {
    struct check_run base;
    struct alloc_check check;
    bool is_running;
    bool is_finished; /* what is reported now concerns the whole trace */
};

static struct heap_check *of(struct check_run *run)
{
    return (struct heap_check *) run;
}

static void put_heap_breach(const struct heap_check *run, enum alloc_rule rule, const char *text)
{
    struct json_output *json = run->base.json;
    const struct alloc_source *allocs = run->base.input->allocs;
    uint64_t offset = alloc_source_offset(allocs);
    json_begin_object(json, NULL);
    json_text(json, "rule", alloc_rule_text(rule));
    if (!run->is_finished)
        json_number(json, "record", alloc_source_number(allocs));
    if (!run->is_finished && offset != STEP_NO_OFFSET)
        json_number(json, "offset", offset);
    json_text(json, "text", text);
    json_end_object(json);
}

static void print_heap_breach(void *user, enum alloc_rule rule, const char *text)
{
    struct heap_check *run = user;
    const struct alloc_source *allocs = run->base.input->allocs;
    uint64_t offset = alloc_source_offset(allocs);
    if (!check_run_prints(&run->base))
        return;
    if (run->base.json != NULL) {
        put_heap_breach(run, rule, text);
        return;
    }
    if (run->is_finished)
        printf("at the end");
    else
        printf("record %" PRIu64, alloc_source_number(allocs));
    if (!run->is_finished && offset != STEP_NO_OFFSET)
        printf(", offset %" PRIu64, offset);
    printf(": %s\n", text);
}

static enum step_status visit_record(void *user, const struct hatf_record *record,
                                     struct step_error *error)
{
    struct heap_check *run = user;
    return alloc_check_put(&run->check, record, alloc_source_number(run->base.input->allocs))
               ? STEP_STATUS_OK
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
            printf("%s: %" PRIu64 " breaches\n", alloc_rule_text((enum alloc_rule) rule),
                   check->rules.breaches[rule]);
    printf("%" PRIu64 " records: ", check->record_count);
    if (count > 0)
        printf("%" PRIu64 " breaches\n", count);
    else
        printf("%s, %zu objects live at the end\n",
               is_damaged ? "no breach in what could be read" : "consistent", check->live.count);
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
        alloc_check_finish(&heap->check);
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
    alloc_check_reset(&of(run)->check);
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
    struct heap_check *heap = malloc(sizeof *heap);
    if (heap == NULL || !alloc_check_init(&heap->check, print_heap_breach, heap)) {
        free(heap);
        return NULL;
    }
    alloc_source_summary(input->allocs, &summary);
    heap->base = (struct check_run){.operations = &operations};
    heap->is_running = summary.running;
    heap->is_finished = false;
    return &heap->base;
}
