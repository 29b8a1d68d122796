/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules that make a trace closed, tested event by event: its beginning and end (1), what
 * existed before (2), names before their use (3), identifiers used once (4), frees (5), calls that
 * nest (6), time (7), the objects of calls (8); and what others test who say so: references (9).
 */
#ifndef CONVERTER_NUMBERS_CHECK_RULES_H
#define CONVERTER_NUMBERS_CHECK_RULES_H

#include "converter/base/id_set.h"
#include "converter/base/id_table.h"
#include "converter/trace/event.h"
#include "converter/trace/names.h"

#define CHECK_RULE_COUNT 9u

/* What was found.  The text lives for the call. */
struct check_breach {
    unsigned rule;         /* 1 to CHECK_RULE_COUNT */
    uint64_t event_number; /* from 1; one more than the last at the trace's end */
    uint64_t time_ns;
    const char *text;
};

typedef void (*check_report)(void *user, const struct check_breach *breach);

struct check_rules {
    const struct trace_names *names; /* borrowed */
    check_report report;
    void *user;
    uint32_t judged;    /* a bit for each rule, 1 << its number: others have no breaches */
    bool names_objects; /* each instance call does; set to false where objects were not traced */
    bool is_cut; /* set to true where the trace ends before its process: VD may be missing, and what
                    the constructors make that are open at the end need not be known */
    uint64_t unknown_objects; /* of such constructors */
    uint64_t event_count;
    uint64_t time_ns; /* of the event before */
    uint64_t init_ns; /* of VI */
    uint32_t seen_kinds;
    uint64_t breaches[CHECK_RULE_COUNT + 1]; /* by rule */
    struct id_set allocated;
    struct id_set freed;
    struct id_table classes; /* uint8_t: 1 where it was loaded */
    struct id_table threads; /* struct check_thread, by thread number in the names */
};

/* Those that hold of any part of a closed trace. */
#define CHECK_RULES_OF_PARTS (UINT32_C(1) << 4 | UINT32_C(1) << 5 | UINT32_C(1) << 7)

/* All rules are judged. */
void check_rules_init(struct check_rules *rules, const struct trace_names *names,
                      check_report report, void *user);
/* False: out of memory. */
bool check_rules_put(struct check_rules *rules, const struct trace_event *event);
/* A breach that somebody else has found; after all events. */
__attribute__((format(printf, 4, 5))) void check_rules_note(struct check_rules *rules,
                                                            unsigned rule, uint64_t time_ns,
                                                            const char *format, ...);
/* After the last event. */
void check_rules_finish(struct check_rules *rules);
void check_rules_reset(struct check_rules *rules);

uint64_t check_rules_breach_count(const struct check_rules *rules);
/* What a rule demands, in a few words. */
const char *check_rule_text(unsigned rule);

#endif
