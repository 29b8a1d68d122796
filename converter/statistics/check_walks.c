/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up the classes of each walk. Their records come before that of the walk. */
#include "converter/statistics/check_walks.h"

#include <inttypes.h>

#include "steptrace/live.h"

#define RULE 10u
#define AGE_MOST 15u

#define BREACH(fact, ...)                                                                          \
    rules_breach(walks->rules, RULE, &(struct trace_event){.time_ns = (fact)->time_ns}, __VA_ARGS__)

void check_walks_init(struct check_walks *walks, struct check_rules *rules)
{
    *walks = (struct check_walks){.rules = rules};
}

/* The files of a ring begin anew. What is missing is said once. */
static void check_collection(struct check_walks *walks, const struct trace_fact *fact)
{
    if (fact->collection != walks->last + 1 && fact->collection != 1)
        BREACH(fact, "a record of collection %" PRIu64 " follows the walk of collection %" PRIu64,
               fact->collection, walks->last);
    walks->last = fact->collection - 1;
}

static void check_class_of_walk(struct check_walks *walks, const struct trace_fact *fact)
{
    check_collection(walks, fact);
    walks->has_rows = true;
    walks->is_too_large |= __builtin_add_overflow(walks->bytes, fact->bytes, &walks->bytes);
    walks->known += fact->is_of_class ? fact->bytes : 0;
    if (!fact->is_of_class && (fact->objects != 0 || fact->has_survivors))
        BREACH(fact, "%" PRIu64 " objects of collection %" PRIu64 " have no class", fact->objects,
               fact->collection);
    if (fact->has_survivors &&
        (fact->survived > fact->objects || fact->survived_bytes > fact->bytes))
        BREACH(fact,
               "of a class of collection %" PRIu64 ", %" PRIu64 " objects (%" PRIu64
               " bytes) survived of %" PRIu64 " (%" PRIu64 ")",
               fact->collection, fact->survived, fact->survived_bytes, fact->objects, fact->bytes);
}

static void check_age(struct check_walks *walks, const struct trace_fact *fact)
{
    check_collection(walks, fact);
    if (fact->age == 0 || fact->age > AGE_MOST)
        BREACH(fact,
               "objects in the survivor space after collection %" PRIu64 " have the age %" PRIu64,
               fact->collection, fact->age);
}

static void check_walk(struct check_walks *walks, const struct trace_fact *fact)
{
    check_collection(walks, fact);
    if (fact->how > STEP_LIVE_EDEN_COUNTED)
        BREACH(fact, "the walk of collection %" PRIu64 " is of the unknown kind %" PRIu64,
               fact->collection, fact->how);
    if (walks->is_too_large || walks->bytes != fact->counted || walks->known != fact->bytes)
        BREACH(fact,
               "the classes of collection %" PRIu64 " have %s%" PRIu64 " bytes, %" PRIu64
               " of them known; its walk says %" PRIu64 " and %" PRIu64,
               fact->collection, walks->is_too_large ? "2^64 + " : "", walks->bytes, walks->known,
               fact->counted, fact->bytes);
    *walks = (struct check_walks){.rules = walks->rules, .last = fact->collection};
}

void check_walks_put(struct check_walks *walks, const struct trace_fact *fact)
{
    if (fact->kind == TRACE_EDEN_CLASS)
        check_class_of_walk(walks, fact);
    else if (fact->kind == TRACE_EDEN_AGE)
        check_age(walks, fact);
    else if (fact->kind == TRACE_EDEN_WALK)
        check_walk(walks, fact);
}

void check_walks_finish(struct check_walks *walks)
{
    if (walks->has_rows && !walks->rules->is_cut)
        rules_breach(walks->rules, RULE, NULL, "the trace ends within the records of a walk");
}
