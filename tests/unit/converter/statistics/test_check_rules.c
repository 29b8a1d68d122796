/* SPDX-License-Identifier: Apache-2.0 */
/* A trace of a few events that breaks no rule, and what each change of it breaks. */
#include <CUnit/Basic.h>
#include <string.h>

#include "converter/statistics/check_rules.h"
#include "tests/unit/run_suite.h"

enum { START, INIT, LOAD, BEGIN, ALLOC, ENTRY, EXIT, FREE, STOP, DEATH, EVENTS };

static const struct trace_event good[EVENTS] = {
    [START] = {.kind = EVENT_VM_START},
    [INIT] = {.kind = EVENT_VM_INIT, .time_ns = 1},
    [LOAD] = {.kind = EVENT_CLASS_LOAD, .time_ns = 1, .class_id = 1, .flags = TRACE_EXISTING},
    [BEGIN] = {.kind = EVENT_THREAD_BEGIN, .time_ns = 2, .thread_id = 1},
    [ALLOC] = {.kind = EVENT_OBJECT_ALLOC,
               .time_ns = 3,
               .thread_id = 1,
               .class_id = 1,
               .object = 7,
               .size = 16},
    [ENTRY] =
        {.kind = EVENT_METHOD_ENTRY, .time_ns = 4, .thread_id = 1, .object = 7, .method_id = 1},
    [EXIT] = {.kind = EVENT_METHOD_EXIT, .time_ns = 5, .thread_id = 1, .method_id = 1},
    [FREE] = {.kind = EVENT_OBJECT_FREE,
              .time_ns = 6,
              .class_id = 1,
              .object = 7,
              .born_ns = 3,
              .flags = TRACE_BORN_KNOWN | TRACE_BORN_CLASS},
    [STOP] = {.kind = EVENT_THREAD_END, .time_ns = 7, .thread_id = 1},
    [DEATH] = {.kind = EVENT_VM_DEATH, .time_ns = 8},
};

struct breach_log {
    uint64_t count, number;
    unsigned rule;
    char text[256];
};

static void note_breach(void *user, const struct check_breach *breach)
{
    struct breach_log *log = user;
    if (log->count++ > 0)
        return;
    log->rule = breach->rule;
    log->number = breach->event_number;
    strncpy(log->text, breach->text, sizeof log->text - 1);
}

/* Returns what is reported of these events; those with the kind EVENT_KIND_COUNT are left out. */
static struct breach_log check_events(const struct trace_event *events, size_t count, bool is_cut,
                                      uint32_t judged)
{
    struct breach_log log = {.count = 0};
    struct trace_names names;
    struct check_rules rules;
    trace_names_init(&names);
    struct trace_method *method = id_table_get(&names.methods, 1);
    struct trace_thread *thread = id_table_get(&names.threads, 1);
    CU_ASSERT_FATAL(method != NULL && thread != NULL);
    *method = (struct trace_method){
        .class_id = 1, .name = step_text("run"), .descriptor = step_text("()V"), .known = true};
    *thread = (struct trace_thread){.number = 1, .known = true};
    check_rules_init(&rules, &names, note_breach, &log);
    rules.is_cut = is_cut;
    rules.judged = judged;
    for (size_t i = 0; i < count; i++)
        if (events[i].kind != EVENT_KIND_COUNT)
            CU_ASSERT_TRUE_FATAL(check_rules_put(&rules, &events[i]));
    check_rules_finish(&rules);
    uint64_t sum = 0;
    for (unsigned rule = 0; rule <= CHECK_RULE_COUNT; rule++)
        sum += rules.breaches[rule];
    CU_ASSERT_EQUAL(sum, log.count);
    check_rules_reset(&rules);
    trace_names_reset(&names);
    return log;
}

static void test_good(void)
{
    CU_ASSERT_EQUAL(check_events(good, EVENTS, false, UINT32_MAX).count, 0);
    CU_ASSERT_EQUAL(check_events(good, DEATH, true, UINT32_MAX).count, 0);
    struct breach_log none = check_events(good, 0, false, UINT32_MAX);
    CU_ASSERT_TRUE(none.count == 1 && none.rule == 1 && none.number == 1);
    struct breach_log endless = check_events(good, DEATH, false, UINT32_MAX);
    CU_ASSERT_TRUE(endless.count == 1 && endless.rule == 1 && endless.number == DEATH + 1);
}

/* Without one event, the first breach is of this rule, at this event. */
static void test_missing(void)
{
    static const struct {
        unsigned left_out, rule, number;
    } rows[] = {{START, 1, 1}, {INIT, 1, 2},  {LOAD, 3, 4},  {BEGIN, 3, 4},
                {ALLOC, 3, 5}, {ENTRY, 6, 6}, {DEATH, 1, 10}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct trace_event events[EVENTS];
        memcpy(events, good, sizeof events);
        events[rows[i].left_out].kind = EVENT_KIND_COUNT;
        struct breach_log log = check_events(events, EVENTS, false, UINT32_MAX);
        CU_ASSERT_TRUE(log.count > 0);
        CU_ASSERT_EQUAL(log.rule, rows[i].rule);
        CU_ASSERT_EQUAL(log.number, rows[i].number);
    }
}

static void expect_breach(const struct trace_event *events, unsigned rule, size_t at,
                          const char *text)
{
    struct breach_log log = check_events(events, EVENTS, false, UINT32_MAX);
    CU_ASSERT_EQUAL(log.count, 1);
    CU_ASSERT_EQUAL(log.rule, rule);
    CU_ASSERT_EQUAL(log.number, at + 1);
    CU_ASSERT_STRING_EQUAL(log.text, text);
    CU_ASSERT_EQUAL(check_events(events, EVENTS, false, UINT32_MAX ^ 1u << rule).count, 0);
}

/* One event is another one. */
static void test_changed(void)
{
    struct trace_event events[EVENTS];
    memcpy(events, good, sizeof events);
    events[LOAD].time_ns = 2;
    expect_breach(events, 2, LOAD, "CL of what existed before has not the time of VI (1)");
    memcpy(events, good, sizeof events);
    events[EXIT] = events[ALLOC];
    events[EXIT].time_ns = 5;
    expect_breach(events, 4, EXIT, "a second OA of object 7");
    memcpy(events, good, sizeof events);
    events[FREE].flags = TRACE_BORN_KNOWN;
    expect_breach(events, 5, FREE, "OF of object 7 has another class than its OA");
    memcpy(events, good, sizeof events);
    events[STOP] = events[FREE];
    expect_breach(events, 5, STOP, "a second OF of object 7");
    memcpy(events, good, sizeof events);
    events[FREE].time_ns = 4;
    expect_breach(events, 7, FREE, "time goes back from 5");
    memcpy(events, good, sizeof events);
    events[ENTRY].object = 0;
    expect_breach(events, 8, ENTRY, "MN of instance method run carries no object");
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("rules of traces", NULL, NULL);
    CU_add_test(suite, "none broken", test_good);
    CU_add_test(suite, "an event is missing", test_missing);
    CU_add_test(suite, "an event is another", test_changed);
}
