/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace check: is the trace closed? */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/allocs/alloc_check.h"
#include "converter/base/error_report.h"
#include "converter/base/given_definition.h"
#include "converter/base/memory_limit.h"
#include "converter/open/input.h"
#include "converter/statistics/check_rules.h"
#include "converter/verbs/verb.h"

#define LIMIT_DEFAULT UINT64_C(20)

static const struct verb_help help = {
    .name = "check",
    .operands = "IN [OPTION]...",
    .text = "Tests every rule of a closed trace and names each breach with the number and the\n"
            "time of its event: VS, VI first and VD last (1); what existed before has VI's time\n"
            "(2); classes, objects and threads are told of before they are used (3), identifiers\n"
            "used once (4), objects freed once (5); calls nest (6); time never goes back (7);\n"
            "calls of instance methods carry the object (8).  In a heap trace (HATF): double\n"
            "frees, frees and reallocs of what does not live, objects that overlap, threads and\n"
            "heaps that are not created or used after their end, time that goes back, each\n"
            "with record and offset.  Exit code 3 if there is a breach.  Of a trace that is cut\n"
            "it says so, and that constructors open at its end have no object yet is no breach;\n"
            "nor is VD that is missing, but the exit code is 3.  While the process of a trace\n"
            "still runs only rules 4, 5 and 7 can be tested; it says so, and ends with 3.\n",
};

struct check {
    struct check_rules rules;
    uint64_t limit;
    uint64_t printed;
};

static void print_breach(void *user, const struct check_breach *breach)
{
    struct check *check = user;
    if (check->printed == check->limit)
        return;
    check->printed++;
    printf("rule %u: event %" PRIu64 " at %" PRIu64 " ns: ", breach->rule, breach->event_number,
           breach->time_ns);
    print_shown_text(breach->text, stdout);
    putchar('\n');
}

static enum step_status visit(void *user, const struct trace_event *events, size_t count,
                              struct step_error *error)
{
    struct check *check = user;
    for (size_t i = 0; i < count; i++)
        if (!check_rules_put(&check->rules, &events[i]))
            return step_error_set(error, STEP_STATUS_NO_MEMORY, NULL, STEP_NO_OFFSET,
                                  "out of memory");
    return STEP_STATUS_OK;
}

/* Where the trace ends before its process did. */
static void print_end(const struct check_rules *rules)
{
    if (!rules->is_cut || rules->judged == CHECK_RULES_OF_PARTS)
        return;
    if ((rules->seen_kinds & TRACE_KIND_BIT(EVENT_VM_DEATH)) == 0)
        puts("the trace is cut: it ends without VD");
    if (rules->unknown_objects > 0)
        printf("the trace ends within %" PRIu64 " constructors whose object is not known yet\n",
               rules->unknown_objects);
}

static void print_verdict(const struct check *check, bool is_damaged)
{
    const struct check_rules *rules = &check->rules;
    uint64_t count = check_rules_breach_count(rules);
    uint64_t events = rules->event_count - 1;
    bool is_part = rules->judged == CHECK_RULES_OF_PARTS;
    if (count > check->printed)
        printf("and %" PRIu64 " more (--limit=N prints more)\n", count - check->printed);
    for (unsigned rule = 1; rule <= CHECK_RULE_COUNT; rule++)
        if (rules->breaches[rule] > 0)
            printf("rule %u (%s): %" PRIu64 " breaches\n", rule, check_rule_text(rule),
                   rules->breaches[rule]);
    print_end(rules);
    if (count > 0)
        printf("%" PRIu64 " events: %" PRIu64 " breaches\n", events, count);
    else
        printf("%" PRIu64 " events: %s\n", events,
               is_part ? "no breach of rules 4, 5 and 7; its process still runs, and the others "
                         "are of whole traces"
               : is_damaged ? "no breach in what could be read"
                            : "closed");
}

/* Its process was killed, or wrote no more: the limit was reached, or the disk full. */
static bool is_cut(const struct event_source *source, const struct trace_summary *summary)
{
    static const char *const early[] = {"limit", "disk-full", "failed"};
    const char *end = event_source_property(source, "end");
    for (size_t i = 0; end != NULL && i < sizeof early / sizeof early[0]; i++)
        if (strcmp(end, early[i]) == 0)
            return true;
    return !summary->whole;
}

/* Calls name their objects only where all objects have an id. */
static bool traces_all_objects(const struct event_source *source)
{
    const char *events = event_source_property(source, "events");
    const char *existing = event_source_property(source, "existing");
    return (events == NULL || strstr(events, "alloc") != NULL) &&
           (existing == NULL || strcmp(existing, "no") != 0);
}

static enum step_status check_input(struct check *check, struct input *input)
{
    check_rules_init(&check->rules, &input->source->names, print_breach, check);
    struct trace_summary summary;
    input->source->operations->summary(input->source, &summary);
    /* of a trace that is being written the streams are there up to different times */
    if (summary.running)
        check->rules.judged = CHECK_RULES_OF_PARTS;
    check->rules.is_cut = is_cut(input->source, &summary);
    check->rules.names_objects = traces_all_objects(input->source);
    enum step_status status = input_each(input, visit, check);
    if (status == STEP_STATUS_OK) {
        check_rules_finish(&check->rules);
        status = input_report_damage(input);
        print_verdict(check, status != STEP_STATUS_OK);
        if (check_rules_breach_count(&check->rules) > 0)
            status = STEP_STATUS_CORRUPT;
    }
    check_rules_reset(&check->rules);
    return status;
}

/* ---- heap traces ---- */

struct heap_run {
    struct alloc_check check;
    const struct alloc_source *records;
    uint64_t limit;
    uint64_t printed;
    bool is_finished; /* what is reported now concerns the whole trace */
};

static void print_heap_breach(void *user, enum heap_rule rule, const char *text)
{
    struct heap_run *run = user;
    uint64_t offset = alloc_source_offset(run->records);
    (void) rule;
    if (run->printed == run->limit)
        return;
    run->printed++;
    if (run->is_finished)
        printf("at the end");
    else
        printf("record %" PRIu64, alloc_source_number(run->records));
    if (!run->is_finished && offset != STEP_NO_OFFSET)
        printf(", offset %" PRIu64, offset);
    printf(": %s\n", text);
}

static enum step_status visit_record(void *user, const struct hatf_record *record,
                                     struct step_error *error)
{
    struct heap_run *run = user;
    return alloc_check_put(&run->check, record, alloc_source_number(run->records))
               ? STEP_STATUS_OK
               : step_error_set(error, STEP_STATUS_NO_MEMORY, NULL, STEP_NO_OFFSET,
                                "out of memory");
}

static enum step_status count_record(void *user, const struct hatf_record *record,
                                     struct step_error *error)
{
    struct heap_run *run = user;
    (void) record, (void) error;
    run->check.record_count++;
    return STEP_STATUS_OK;
}

static void print_heap_verdict(const struct heap_run *run, bool is_damaged)
{
    const struct alloc_check *check = &run->check;
    uint64_t count = alloc_check_breach_count(check);
    if (count > run->printed)
        printf("and %" PRIu64 " more (--limit=N prints more)\n", count - run->printed);
    for (unsigned rule = 0; rule < HEAP_RULE_COUNT; rule++)
        if (check->rules.breaches[rule] > 0)
            printf("%s: %" PRIu64 " breaches\n", heap_rule_text((enum heap_rule) rule),
                   check->rules.breaches[rule]);
    printf("%" PRIu64 " records: ", check->record_count);
    if (count > 0)
        printf("%" PRIu64 " breaches\n", count);
    else
        printf("%s, %zu objects live at the end\n",
               is_damaged ? "no breach in what could be read" : "consistent", check->live.count);
}

static enum step_status check_heap(uint64_t limit, struct input *input)
{
    struct trace_summary summary;
    alloc_source_summary(input->allocs, &summary);
    struct heap_run *run = malloc(sizeof *run);
    if (run == NULL || !alloc_check_init(&run->check, print_heap_breach, run)) {
        free(run);
        tell("out of memory");
        return STEP_STATUS_NO_MEMORY;
    }
    run->records = input->allocs;
    run->limit = limit;
    run->printed = 0;
    run->is_finished = false;
    enum step_status status =
        input_each_record(input, summary.running ? count_record : visit_record, run);
    if (status == STEP_STATUS_OK) {
        status = input_report_damage(input);
        run->is_finished = true;
        if (status == STEP_STATUS_OK)
            alloc_check_finish(&run->check);
        if (summary.running)
            printf("%" PRIu64
                   " records: its process still runs, and the rules are of whole traces\n",
                   run->check.record_count);
        else
            print_heap_verdict(run, status != STEP_STATUS_OK);
        if (alloc_check_breach_count(&run->check) > 0)
            status = STEP_STATUS_CORRUPT;
    }
    alloc_check_reset(&run->check);
    free(run);
    return status;
}

enum step_status verb_check(int argc, char **argv)
{
    struct check check = {.limit = LIMIT_DEFAULT};
    struct event_selection selected;
    event_selection_init(&selected);
    const struct option_row rows[] = {
        {"limit", 0, "N", "print at most N breaches (20)", take_count, &check.limit},
        {"dtd", 0, "FILE", "the DTD of a Meta-TF trace that does not carry it", take_text,
         &selected.dtd_path},
        DEFINITION_ROW,
        MEMORY_ROW};
    struct arguments arguments = {
        .help = &help, .rows = rows, .row_count = sizeof rows / sizeof rows[0]};
    enum step_status status = arguments_parse(&arguments, argc, argv);
    if (status != STEP_STATUS_OK || arguments.help_wanted)
        return status;
    status = arguments_expect(&arguments, 1, 1);
    if (status != STEP_STATUS_OK)
        return status;
    struct input input;
    status = input_open(&input, arguments.operands[0], NULL, &selected);
    if (status != STEP_STATUS_OK)
        return status;
    status = input.allocs != NULL ? check_heap(check.limit, &input) : check_input(&check, &input);
    input_close(&input);
    return status;
}
