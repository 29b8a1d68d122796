/* SPDX-License-Identifier: Apache-2.0 */
/* A pass of its own over what makes the graph. */
#include "converter/verb_parts/check_references.h"

#include <inttypes.h>

#include "converter/base/given_definition.h"
#include "converter/base/no_memory.h"
#include "converter/graph/graph_replay.h"

struct reference_check {
    struct check_rules *rules;
    struct graph_source source;
    struct graph_replay replay;
};

static void check_object(const struct reference_check *check, const struct graph_event *event,
                         const char *what, uint64_t object)
{
    if (object != 0 && object_graph_find(&check->replay.graph, object) == 0)
        check_rules_note(check->rules, 9, graph_source_ns(&check->source, event->time),
                         "%s is object %" PRIu64 ", which was not allocated yet, or is freed", what,
                         object);
}

static void check_event(const struct reference_check *check, const struct graph_event *event)
{
    switch ((enum graph_event_kind) event->kind) {
    case GRAPH_FIELD:
    case GRAPH_ELEMENT:
    case GRAPH_HAS_FIELD:
    case GRAPH_HAS_ELEMENT:
    case GRAPH_HAS_OTHER:
        check_object(check, event, "the holder", event->object);
        check_object(check, event, "the target", event->target);
        break;
    case GRAPH_RANGE:
    case GRAPH_CLONE:
        check_object(check, event, "the holder", event->object);
        check_object(check, event, "the source", event->source);
        break;
    case GRAPH_ROOT:
        check_object(check, event, "a root's target", event->target);
        break;
    default:
        break;
    }
}

static enum step_status go_over(struct reference_check *check, struct step_error *error)
{
    const struct graph_event *event;
    enum step_status status = graph_source_start(&check->source, GRAPH_REPLAY_KINDS,
                                                 graph_replay_knows, &check->replay, error);
    while (status == STEP_STATUS_OK &&
           (status = graph_source_next(&check->source, &event, error)) == STEP_STATUS_OK) {
        check_event(check, event);
        if (event->kind == GRAPH_FREE || event->kind == GRAPH_DEATH)
            graph_replay_free(&check->replay, event->object);
        else if ((event->kind == GRAPH_ALLOC || event->kind == GRAPH_EXISTING) &&
                 !graph_replay_put(&check->replay, event))
            status = no_memory(error);
    }
    return status == STEP_STATUS_END ? STEP_STATUS_OK : status;
}

static bool has_references(const struct graph_source *source)
{
    uint64_t sum = 0;
    for (unsigned kind = GRAPH_FIELD; kind <= GRAPH_SNAPSHOT_END; kind++)
        sum += source->inventory.counts[kind];
    return sum > 0;
}

enum step_status check_references(const char *path, struct check_rules *rules,
                                  struct step_error *error)
{
    struct reference_check check = {.rules = rules};
    struct step_reader *reader;
    enum step_status status = open_with_given_definition(path, &reader, error);
    if (status != STEP_STATUS_OK)
        return status;
    status = graph_source_init(&check.source, reader, error);
    bool is_other = status == STEP_STATUS_FORMAT; /* not of objects: there is nothing to check */
    if (is_other)
        status = STEP_STATUS_OK;
    else if (status == STEP_STATUS_OK && has_references(&check.source))
        status = graph_replay_init(&check.replay, &check.source, false, false)
                     ? go_over(&check, error)
                     : no_memory(error);
    graph_replay_reset(&check.replay);
    graph_source_reset(&check.source);
    step_reader_destroy(reader);
    return status;
}
