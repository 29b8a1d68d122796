/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the rules of a closed trace, event by event: its beginning and end (1), what existed
 * before (2), names before their use (3), unique identifiers (4), frees (5), nesting of calls (6),
 * time (7), and receivers of calls (8).  Other checks report references (9) and walks of eden (10).
 */
#ifndef CONVERTER_STATISTICS_CHECK_RULES_H
#define CONVERTER_STATISTICS_CHECK_RULES_H

#include "converter/containers/id_set.h"
#include "converter/containers/id_table.h"
#include "converter/trace/event.h"
#include "converter/trace/names.h"

#define CHECK_RULE_COUNT 10u

/* A violation of a rule.  The text is valid during the call. */
struct check_breach {
    unsigned rule;         /* 1 to CHECK_RULE_COUNT */
    uint64_t event_number; /* from 1; at the trace's end, one more than the last */
    uint64_t time_ns;
    const char *text;
};

typedef void (*check_report)(void *user, const struct check_breach *breach);

struct check_rules {
    const struct trace_names *names; /* borrowed */
    check_report report;
    void *user;
    uint32_t judged;    /* bit mask of the rules to check, 1 << number; others are not reported */
    bool names_objects; /* each instance call has its receiver; set to false if objects were not
                           traced */
    bool is_cut; /* set to true if the trace ends before its process: VD may be missing, and the
                    receivers of constructors still open at the end may be unknown */
    uint64_t unknown_objects; /* of constructors that are open at the end */
    uint64_t event_count;
    uint64_t time_ns; /* of the previous event */
    uint64_t init_ns; /* of VI */
    uint32_t seen_kinds;
    uint64_t breaches[CHECK_RULE_COUNT + 1]; /* by rule */
    struct id_set allocated;
    struct id_set freed;
    struct id_table classes; /* uint8_t: 1 if it was loaded */
    struct id_table threads; /* struct check_thread, by thread number in the names */
};

/* Rules that also hold for a part of a closed trace. */
#define CHECK_RULES_OF_PARTS (UINT32_C(1) << 4 | UINT32_C(1) << 5 | UINT32_C(1) << 7)

/* Enables all rules. */
void check_rules_init(struct check_rules *rules, const struct trace_names *names,
                      check_report report, void *user);
/* Returns false if memory runs out. */
bool check_rules_put(struct check_rules *rules, const struct trace_event *event);
/* Reports a breach, also one that another check has found, after all events.  `event`: at its time;
 * NULL: at the end. */
__attribute__((format(printf, 4, 5))) void rules_breach(struct check_rules *rules, unsigned rule,
                                                        const struct trace_event *event,
                                                        const char *format, ...);
/* Call after the last event. */
void check_rules_finish(struct check_rules *rules);
void check_rules_reset(struct check_rules *rules);

/* Returns a short description of a rule. */
const char *check_rule_text(unsigned rule);

#endif
