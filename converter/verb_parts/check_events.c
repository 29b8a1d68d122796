/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of closed traces. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/base/error_report.h"
#include "converter/base/no_memory.h"
#include "converter/statistics/check_rules.h"
#include "converter/verb_parts/check_references.h"
#include "converter/verb_parts/check_run.h"

struct event_check {
    struct check_run base;
    struct check_rules rules;
};

static struct event_check *of(struct check_run *run)
{
    return (struct event_check *) run;
}

static void print_breach(void *user, const struct check_breach *breach)
{
    struct json_output *json = ((struct check_run *) user)->json;
    if (!check_run_prints(user))
        return;
    if (json != NULL) {
        json_begin_object(json, NULL);
        json_number(json, "rule", breach->rule);
        json_number(json, "event", breach->event_number);
        json_number(json, "time_ns", breach->time_ns);
        json_text(json, "text", breach->text);
        json_end_object(json);
        return;
    }
    printf("rule %u: event %" PRIu64 " at %" PRIu64 " ns: ", breach->rule, breach->event_number,
           breach->time_ns);
    print_shown_text(breach->text, stdout);
    putchar('\n');
}

static enum step_status visit(void *user, const struct trace_event *events, size_t count,
                              struct step_error *error)
{
    struct event_check *check = user;
    for (size_t i = 0; i < count; i++)
        if (!check_rules_put(&check->rules, &events[i]))
            return no_memory(error);
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

static void put_verdict(struct check_run *run, const struct check_rules *rules, bool is_damaged)
{
    uint64_t count = check_rules_breach_count(rules);
    check_run_put_verdict(run,
                          count > 0                               ? "breached"
                          : rules->judged == CHECK_RULES_OF_PARTS ? "running"
                          : is_damaged                            ? "damaged"
                                                                  : "closed",
                          rules->event_count - 1, count);
    json_bool(run->json, "cut", rules->is_cut);
    json_begin_array(run->json, "rules");
    for (unsigned rule = 1; rule <= CHECK_RULE_COUNT; rule++) {
        json_begin_object(run->json, NULL);
        json_number(run->json, "rule", rule);
        json_text(run->json, "text", check_rule_text(rule));
        json_number(run->json, "breaches", rules->breaches[rule]);
        json_end_object(run->json);
    }
    json_end_array(run->json);
}

static void print_verdict(struct check_run *run, bool is_damaged)
{
    const struct check_rules *rules = &of(run)->rules;
    uint64_t count = check_rules_breach_count(rules);
    uint64_t events = rules->event_count - 1;
    bool is_part = rules->judged == CHECK_RULES_OF_PARTS;
    if (run->json != NULL) {
        put_verdict(run, rules, is_damaged);
        return;
    }
    if (count > run->printed)
        printf("and %" PRIu64 " more (--limit=N prints more)\n", count - run->printed);
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

/* Calls name their objects only where all objects have an id, and no allocation found the buffers
 * full.
 */
static bool traces_all_objects(const struct event_source *source)
{
    const char *events = event_source_property(source, "events");
    const char *existing = event_source_property(source, "existing");
    const char *dropped = event_source_property(source, "dropped");
    return (events == NULL || strstr(events, "alloc") != NULL) &&
           (existing == NULL || strcmp(existing, "no") != 0) &&
           (dropped == NULL || strcmp(dropped, "0") == 0);
}

/* References are checked where all objects are traced that they could be of. */
static enum step_status read_references(struct check_run *run)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct trace_summary summary;
    const struct input *input = run->input;
    input->source->operations->summary(input->source, &summary);
    if (strcmp(summary.format, "step") != 0 || summary.running || !of(run)->rules.names_objects)
        return STEP_STATUS_OK;
    const char *path = input->spool >= 0 ? input->spool_path : input->source->path;
    enum step_status status = check_references(path, &of(run)->rules, &error);
    return status == STEP_STATUS_OK ? status : report_error(&error);
}

static enum step_status read_events(struct check_run *run)
{
    enum step_status status = input_each(run->input, visit, run);
    if (status != STEP_STATUS_OK)
        return status;
    check_rules_finish(&of(run)->rules);
    return read_references(run);
}

static uint64_t breach_count(const struct check_run *run)
{
    return check_rules_breach_count(&((const struct event_check *) run)->rules);
}

static void destroy(struct check_run *run)
{
    check_rules_reset(&of(run)->rules);
    free(run);
}

static const struct check_operations operations = {
    .read = read_events,
    .print_verdict = print_verdict,
    .breach_count = breach_count,
    .destroy = destroy,
};

struct check_run *event_check_create(struct input *input)
{
    const struct event_source *source = input->source;
    struct trace_summary summary;
    struct event_check *check = calloc(1, sizeof *check);
    if (check == NULL)
        return NULL;
    check->base.operations = &operations;
    check_rules_init(&check->rules, &source->names, print_breach, check);
    source->operations->summary(source, &summary);
    /* of a trace that is being written the streams are there up to different times */
    if (summary.running)
        check->rules.judged = CHECK_RULES_OF_PARTS;
    check->rules.is_cut = is_cut(source, &summary);
    check->rules.names_objects = traces_all_objects(source);
    return &check->base;
}
