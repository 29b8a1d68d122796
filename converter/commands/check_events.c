/* SPDX-License-Identifier: Apache-2.0 */
/* Checks event traces: the rules for closed traces. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "converter/cli/error_report.h"
#include "converter/commands/check_run.h"
#include "converter/containers/no_memory.h"
#include "converter/files/trace_gap.h"
#include "converter/graph/graph_replay.h"
#include "converter/records/copy_trace.h"
#include "converter/statistics/check_rules.h"
#include "converter/statistics/check_walks.h"

/* ---- references, checked in a separate pass over the records of the graph ---- */

struct reference_check {
    struct check_rules *rules;
    struct graph_walk walk;
};

static void check_object(const struct reference_check *checking, const struct graph_event *event,
                         const char *what, uint64_t object)
{
    const struct graph_walk *walk = &checking->walk;
    if (object != 0 && object_graph_find(&walk->replay.graph, object) == 0)
        rules_breach(checking->rules, 9,
                     &(struct trace_event){.time_ns = graph_source_ns(&walk->source, event->time)},
                     "%s is object %" PRIu64 ", which was not allocated yet, or is freed", what,
                     object);
}

static void check_event(const struct reference_check *checking, const struct graph_event *event)
{
    switch ((enum graph_event_kind) event->kind) {
    case GRAPH_FIELD:
    case GRAPH_ELEMENT:
    case GRAPH_HAS_FIELD:
    case GRAPH_HAS_ELEMENT:
    case GRAPH_HAS_OTHER:
        check_object(checking, event, "the holder", event->object);
        check_object(checking, event, "the target", event->target);
        break;
    case GRAPH_RANGE:
    case GRAPH_CLONE:
        check_object(checking, event, "the holder", event->object);
        check_object(checking, event, "the source", event->source);
        break;
    case GRAPH_ROOT:
        check_object(checking, event, "a root's target", event->target);
        break;
    default:
        break;
    }
}

static bool check_events_take(void *user, const struct graph_event *event)
{
    struct reference_check *checking = user;
    check_event(checking, event);
    if (event->kind == GRAPH_FREE || event->kind == GRAPH_DEATH)
        graph_replay_free(&checking->walk.replay, event->object);
    return (event->kind != GRAPH_ALLOC && event->kind != GRAPH_EXISTING) ||
           graph_replay_put(&checking->walk.replay, event);
}

/* Checks the stores and snapshots of the trace at `path`, if it is a STEP trace that has any. */
static enum step_status check_references(const char *path, struct check_rules *rules,
                                         struct step_error *error)
{
    struct reference_check checking = {.rules = rules};
    enum step_status status =
        graph_walk(&checking.walk, path, false, check_events_take, &checking, error);
    graph_walk_reset(&checking.walk);
    return status == STEP_STATUS_FORMAT ? STEP_STATUS_OK : status; /* there are no objects */
}

struct event_check {
    struct check_run *run;
    struct check_rules rules;
    struct check_walks walks;
    bool is_sampled; /* the trace has a sample of the objects */
    uint64_t classes_not_probed, methods_not_probed;
};

static struct event_check check;

static void print_breach(void *user, const struct check_breach *breach)
{
    struct json_output *json = check.run->json;
    (void) user;
    if (!check_run_prints(check.run))
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

static enum step_status check_events_visit(void *user, const struct trace_event *events,
                                           size_t count, struct step_error *error)
{
    (void) user;
    for (size_t i = 0; i < count; i++)
        if (!check_rules_put(&check.rules, &events[i]))
            return no_memory(error);
    return STEP_STATUS_OK;
}

/* Returns whether the process was killed: nobody wrote the end of the trace, though `recover` may
 * have closed the file. */
static bool ends_before_program(void)
{
    return check.rules.is_cut && (check.rules.seen_kinds & TRACE_KIND_BIT(EVENT_VM_DEATH)) == 0;
}

/* Reports that the trace ends before its process. */
static void print_end(void)
{
    const struct check_rules *rules = &check.rules;
    if (!rules->is_cut || rules->judged == CHECK_RULES_OF_PARTS)
        return;
    if (ends_before_program())
        puts("the trace is cut: it ends without VD");
    if (rules->unknown_objects > 0)
        printf("the trace ends within %" PRIu64 " constructors whose object is not known yet\n",
               rules->unknown_objects);
}

/* Reports methods and classes that the agent could not instrument. */
static void print_not_probed(void)
{
    uint64_t classes = check.classes_not_probed, methods = check.methods_not_probed;
    if (classes + methods > 0)
        printf(
            "%" PRIu64 " classes and %" PRIu64
            " methods have no probes, and their events are missing (`steptrace info` lists them)\n",
            classes, methods);
}

static void put_verdict(struct check_run *run, bool is_damaged)
{
    const struct check_rules *rules = &check.rules;
    check_run_put_verdict(run,
                          check_run_breach_count(run) > 0         ? "breached"
                          : rules->judged == CHECK_RULES_OF_PARTS ? "running"
                          : is_damaged                            ? "damaged"
                          : ends_before_program()                 ? "cut"
                          : trace_text_is_there(run->incomplete)  ? "incomplete"
                                                                  : "closed",
                          rules->event_count - 1);
    json_bool(run->json, "cut", rules->is_cut);
    json_number(run->json, "classes_not_probed", check.classes_not_probed);
    json_number(run->json, "methods_not_probed", check.methods_not_probed);
    if (trace_text_is_there(run->incomplete))
        trace_text_put_json(run->incomplete, run->json, "incomplete");
    check_run_put_rules(run);
}

static void check_events_print_verdict(struct check_run *run, bool is_damaged)
{
    uint64_t count = check_run_breach_count(run);
    uint64_t events = check.rules.event_count - 1;
    bool is_part = check.rules.judged == CHECK_RULES_OF_PARTS;
    if (run->json != NULL) {
        put_verdict(run, is_damaged);
        return;
    }
    check_run_print_rules(run);
    print_end();
    print_not_probed();
    if (count > 0)
        printf("%" PRIu64 " events: %" PRIu64 " %s\n", events, count, breaches(count));
    else
        printf("%" PRIu64 " events: %s\n", events,
               is_part ? "no breach of rules 4, 5 and 7; its process still runs, and the other "
                         "rules apply to complete traces"
               : is_damaged                           ? "no breach in the part that could be read"
               : ends_before_program()                ? "no breach, but the trace is cut"
               : trace_text_is_there(run->incomplete) ? "no breach, but the trace is incomplete"
               : check.is_sampled ? "closed; its objects are a sample (engine=sampled)"
                                  : "closed");
}

/* The process was killed, or writing stopped because of a limit or a full disk.  `recover` makes
 * such a trace a complete file and stores that in a property. */
static bool is_cut(const struct event_source *source, const struct trace_summary *summary)
{
    return trace_gap_any_early(event_source_property(source, "end").unshown) != NULL ||
           !summary->whole || trace_text_is_there(event_source_property(source, RECOVERED_RECORDS));
}

/* Calls have receivers only if all objects have ids and no allocation found the buffers full. */
static bool traces_all_objects(const struct event_source *source)
{
    const char *events = event_source_property(source, "events").unshown;
    const char *existing = event_source_property(source, "existing").unshown;
    const char *dropped = event_source_property(source, "dropped").unshown;
    return (events == NULL || strstr(events, "alloc") != NULL) && !trace_lacks_existing(existing) &&
           (dropped == NULL || strcmp(dropped, "0") == 0);
}

/* Checks references if all the objects to which they may refer are traced. */
static enum step_status check_events_read_references(const struct input *input)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct trace_summary summary = trace_summary_of(&input->source->about);
    if (strcmp(summary.format, "step") != 0 || summary.running || !check.rules.names_objects)
        return STEP_STATUS_OK;
    const char *path = input->spool >= 0 ? input->spool_path : input->source->path;
    enum step_status status = check_references(path, &check.rules, &error);
    return status == STEP_STATUS_OK ? status : report_error(&error);
}

static enum step_status check_fact(void *user, const struct trace_fact *fact)
{
    (void) user;
    check_walks_put(&check.walks, fact);
    if (fact->kind != TRACE_NOT_PROBED)
        return STEP_STATUS_OK;
    if (fact->method_name.length == 0)
        check.classes_not_probed++;
    else
        check.methods_not_probed++;
    return STEP_STATUS_OK;
}

static enum step_status check_events_read(struct input *input)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    enum step_status status = input_each(input, check_events_visit, NULL);
    if (status != STEP_STATUS_OK)
        return status;
    status = event_source_facts(input->source, check_fact, NULL, &error);
    if (status != STEP_STATUS_OK)
        return report_error(&error);
    check_walks_finish(&check.walks);
    check_rules_finish(&check.rules);
    return check_events_read_references(input);
}

enum step_status check_events(struct check_run *run)
{
    const struct event_source *source = run->input->source;
    struct trace_summary summary = trace_summary_of(&source->about);
    memset(&check, 0, sizeof check);
    check_rules_init(&check.rules, &source->names, print_breach, NULL);
    check_walks_init(&check.walks, &check.rules);
    check.run = run;
    check.is_sampled = event_source_sample_interval(source) != 0;
    /* the streams of a trace that is being written end at different times */
    if (summary.running)
        check.rules.judged = CHECK_RULES_OF_PARTS;
    check.rules.is_cut = is_cut(source, &summary);
    check.rules.names_objects = traces_all_objects(source);
    run->breaches = check.rules.breaches;
    run->first_rule = 1;
    run->rule_end = CHECK_RULE_COUNT + 1;
    run->rule_text = check_rule_text;
    run->has_numbers = true;
    run->incomplete = event_source_property(source, TRACE_INCOMPLETE);
    enum step_status status =
        check_run_judge(run, check_events_read(run->input), check_events_print_verdict);
    if (status == STEP_STATUS_OK && ends_before_program())
        status = STEP_STATUS_CUT;
    check_rules_reset(&check.rules);
    return status;
}
