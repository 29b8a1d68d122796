/* SPDX-License-Identifier: Apache-2.0 */
/* A session from its files to its end, and what ends or follows it, in a JVM that has nothing to
 * say: the order of all that needs no class and no object. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/base/patience.h"
#include "agent/events/engine.h"
#include "agent/session/session.h"
#include "capture/drain.h"
#include "steptrace/reader.h"
#include "tests/unit/agent/session/fake_java.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/scratch.h"

static struct options options;

static void take_options(const char *name, const char *more)
{
    char text[1024];
    snprintf(text, sizeof text, "file=%s,ring=file,engine=jvmti,events=class+thread,existing=no%s",
             scratch_path(name), more);
    CU_ASSERT_TRUE_FATAL(options_parse(&options, text));
    tracer.options = options;
}

static struct session *begun(const char *name, const char *more)
{
    take_options(name, more);
    struct session *session = session_prepare(&options);
    CU_ASSERT_PTR_NOT_NULL_FATAL(session);
    CU_ASSERT_TRUE_FATAL(session_begin(session, fake_java_jni()));
    return session;
}

static bool is_there(const char *name)
{
    return access(scratch_path(name), F_OK) == 0;
}

static struct step_reader *trace;

static bool has_property(const char *key, const char *value)
{
    const char *found = step_reader_property(trace, key);
    return found != NULL && strcmp(found, value) == 0;
}

static void open_trace(const char *name)
{
    CU_ASSERT_EQUAL_FATAL(step_reader_open(scratch_path(name), &trace, NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(step_reader_is_whole(trace));
    CU_ASSERT_EQUAL(step_reader_damage_count(trace), 0);
}

static uint64_t record_count(void)
{
    uint64_t count = 0;
    for (size_t i = 0; i < step_reader_block_count(trace); i++)
        count += step_reader_block_info(trace, i)->record_count;
    return count;
}

/* Start, initialisation and death of the JVM, and the properties that say what made the trace; the
 * live file is gone. */
static void test_whole(void)
{
    struct session *session = begun("whole.step", ",level=3");
    CU_ASSERT_PTR_EQUAL(atomic_load(&tracer.session), session);
    CU_ASSERT_TRUE(is_there("whole.step.live"));
    CU_ASSERT_TRUE(session_flush());
    CU_ASSERT_TRUE(session_stop(END_STOPPED, 10 * SECOND_NS));
    CU_ASSERT_PTR_NULL(atomic_load(&tracer.session));
    CU_ASSERT_FALSE(is_there("whole.step.live"));
    CU_ASSERT_TRUE(session_stop(END_STOPPED, SECOND_NS)); /* it has ended: nothing to do */
    CU_ASSERT_FALSE(session_flush());
    open_trace("whole.step");
    CU_ASSERT_EQUAL(record_count(), 3);
    CU_ASSERT(has_property("end", "stopped") && has_property("engine", "jvmti"));
    CU_ASSERT(has_property("java-version", FAKE_JAVA_VERSION) && has_property("attached", "no"));
    CU_ASSERT(has_property("ring", "file") && has_property("existing", "no"));
    CU_ASSERT(has_property("events", "class+thread") && has_property("dropped", "0"));
    CU_ASSERT_PTR_NOT_NULL(strstr(step_reader_property(trace, "options"), ",level=3"));
    char process[32];
    snprintf(process, sizeof process, "%ld", (long) getpid());
    CU_ASSERT_TRUE(has_property("process-id", process));
    const char *time =
        step_reader_property(trace, "start-time"); /* 2026-01-02T03:04:05.123456789Z */
    CU_ASSERT(time != NULL && strlen(time) == 30 && time[10] == 'T' && time[29] == 'Z');
    CU_ASSERT_PTR_NULL(step_reader_property(trace, "file-number"));
    step_reader_destroy(trace);
}

/* The end of the JVM is a reason of its own, and the time of its end is limited. */
static void test_vm_death(void)
{
    begun("death.step", "");
    CU_ASSERT_TRUE(session_stop(END_VM_DEATH, 0));
    open_trace("death.step");
    CU_ASSERT_TRUE(has_property("end", "vm-death"));
    step_reader_destroy(trace);
}

static bool await_end(const struct session *session)
{
    for (int i = 0; i < 10000 && !session_has_ended((struct session *) session); i++)
        usleep(1000);
    return session_has_ended((struct session *) session);
}

/* A trace that is large enough, or takes too much memory, ends by itself, and says so. */
static void test_limits(void)
{
    static const char *const ends[][2] = {{"limit", "limit reached"},
                                          {"memory", "it needs more than memory="}};
    for (size_t i = 0; i < 2; i++) {
        take_options("limited.step", "");
        options.limit_bytes = i == 0; /* less than options accept */
        options.memory_bytes = i == 1;
        scratch_listen();
        struct session *session = session_prepare(&options);
        bool has_begun = session != NULL && session_begin(session, fake_java_jni());
        bool has_ended = has_begun && await_end(session);
        session_log_status();
        bool stopped = session_stop(END_STOPPED, 10 * SECOND_NS);
        struct scratch_heard heard = scratch_hear();
        char status[64];
        snprintf(status, sizeof status, "ended (%s)", ends[i][0]);
        CU_ASSERT_TRUE(has_begun && has_ended && stopped);
        CU_ASSERT(strstr(heard.err, ends[i][1]) != NULL && strstr(heard.err, status) != NULL);
        open_trace("limited.step");
        CU_ASSERT_TRUE(has_property("end", ends[i][0]));
        step_reader_destroy(trace);
        unlink(scratch_path("limited.step"));
    }
}

static void test_status(void)
{
    begun("status.step", "");
    scratch_listen();
    session_log_status();
    session_stop(END_STOPPED, 10 * SECOND_NS);
    struct scratch_heard heard = scratch_hear();
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.err, "status.step: recording class+thread; classes=0"));
    CU_ASSERT_STRING_EQUAL(session_end_name(END_DISK_FULL), "disk-full");
    CU_ASSERT_STRING_EQUAL(session_end_name(END_MEMORY), "memory");
}

/* A session that was not begun leaves no file. */
static void test_discard(void)
{
    take_options("discarded.step", "");
    struct session *session = session_prepare(&options);
    CU_ASSERT_PTR_NOT_NULL_FATAL(session);
    CU_ASSERT_TRUE(is_there("discarded.step") && is_there("discarded.step.live"));
    session_discard(session);
    CU_ASSERT_FALSE(is_there("discarded.step") || is_there("discarded.step.live"));
}

static void test_files(void)
{
    scratch_put_text("taken.step", "another's");
    take_options("taken.step", "");
    scratch_listen();
    struct session *session = session_prepare(&options);
    struct scratch_heard heard = scratch_hear();
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.err, "taken.2.step"));
    take_options("no/taken.step", "");
    scratch_listen();
    struct session *none = session_prepare(&options);
    heard = scratch_hear();
    CU_ASSERT_PTR_NULL(none);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.err, "No such file or directory"));
    CU_ASSERT_PTR_NOT_NULL_FATAL(session);
    CU_ASSERT_STRING_EQUAL(session->options.file, scratch_path("taken.2.step"));
    session_discard(session);
    CU_ASSERT_STRING_EQUAL(scratch_read(scratch_path("taken.step"), NULL), "another's");
}

/* What a message says of a program whose first trace cannot begin. */
static void test_consequence(void)
{
    struct session *last = tracer.last;
    tracer.last = NULL;
    tracer.options.required = false;
    CU_ASSERT_STRING_EQUAL(session_consequence(), "; the program runs untraced");
    tracer.options.required = true;
    CU_ASSERT_STRING_EQUAL(session_consequence(), "");
    tracer.options.required = false;
    tracer.attached = true;
    CU_ASSERT_STRING_EQUAL(session_consequence(), "");
    tracer.attached = false;
    tracer.last = last;
}

static void test_numbered_names(void)
{
    static const char *const names[][2] = {{"d.x/run.step", "d.x/run.000007.step"},
                                           {"d.x/run", "d.x/run.000007"},
                                           {"run.a.step", "run.a.000007.step"},
                                           {"/a/.step", "/a/.000007.step"}};
    char out[OPTION_TEXT], small[8];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(options.file, sizeof options.file, "%s", names[i][0]);
        options.file_number = 7;
        session_numbered_name(&options, out, sizeof out);
        CU_ASSERT_STRING_EQUAL(out, names[i][1]);
    }
    session_numbered_name(&options, small, sizeof small); /* cut, within its room */
    CU_ASSERT_EQUAL(strlen(small), sizeof small - 1);
}

/* ---- engines ---- */

static void test_engines(void)
{
    struct session session = {.options = {.engine = ENGINE_BYTECODE,
                                          .events = TRACED_ALLOC | TRACED_METHOD | TRACED_FREE}};
    engine_choice_apply(&session);
    CU_ASSERT_PTR_EQUAL(session.engine, engine_of_options(&session.options));
    CU_ASSERT(session.names_objects && session.finds_objects && session.keeps_references);
    session.options.method = METHOD_COUNT; /* counted calls name no object */
    engine_choice_apply(&session);
    CU_ASSERT(!session.names_objects && !session.finds_objects && session.keeps_references);
    session.options.events = TRACED_ALLOC;
    engine_choice_apply(&session);
    CU_ASSERT_FALSE(session.keeps_references);
    session.options.events = TRACED_REFERENCE;
    engine_choice_apply(&session);
    CU_ASSERT(session.finds_objects && session.keeps_references && !session.names_objects);
    session.options = (struct options){.engine = ENGINE_SAMPLED, .events = TRACED_FREE};
    engine_choice_apply(&session);
    CU_ASSERT_PTR_EQUAL(session.engine, &engine_sampled);
    CU_ASSERT_FALSE(session.keeps_references);
}

static void test_missed_bytes(void)
{
    struct session session = {.late = true, .options = {.events = TRACED_ALLOC, .missed = true}};
    CU_ASSERT_TRUE(missed_bytes_are_wanted(&session));
    session.options.missed = false;
    CU_ASSERT_FALSE(missed_bytes_are_wanted(&session));
    session.options.missed = true;
    session.late = false; /* all that threads did is in the trace */
    CU_ASSERT_FALSE(missed_bytes_are_wanted(&session));
    session = (struct session){.late = true, .options = {.events = TRACED_FREE}};
    CU_ASSERT_FALSE(missed_bytes_are_wanted(&session));
    session.options = (struct options){.events = TRACED_ALLOC, .engine = ENGINE_SAMPLED};
    CU_ASSERT_FALSE(missed_bytes_are_wanted(&session));
    missed_bytes_free(&session); /* nothing was read */
    missed_bytes_report(&session);
}

/* ---- memory ---- */

/* memory= has shares for the ring and for the records that wait; without it there are defaults. */
static void test_memory_limit(void)
{
    struct step_writer_options writing = {.memory_bytes = 0}, rows = {.memory_bytes = 0};
    struct options given = {.buffer_bytes = 64 << 20, .events = TRACED_ALLOC};
    memory_account_limit(&given, &writing);
    CU_ASSERT_EQUAL(given.buffer_bytes, 64 << 20);
    given.events = TRACED_METHOD;
    memory_account_limit(&given, &rows);
    CU_ASSERT(writing.memory_bytes != 0 && rows.memory_bytes > writing.memory_bytes);
    given.memory_bytes = 80 << 20;
    memory_account_limit(&given, &writing);
    CU_ASSERT_EQUAL(given.buffer_bytes, 10 << 20);
    CU_ASSERT_EQUAL(writing.memory_bytes, 20 << 20);
    given.buffer_bytes = 1 << 20; /* a smaller ring stays as it is */
    memory_account_limit(&given, &writing);
    CU_ASSERT_EQUAL(given.buffer_bytes, 1 << 20);
}

/* ---- duration= ---- */

static _Atomic unsigned ended;

static void note_end(void)
{
    ended++;
}

/* Only the last timer counts, and only once its trace has begun. */
static void test_duration(void)
{
    duration_initialize(note_end);
    CU_ASSERT_TRUE(duration_prepare(1000000));
    duration_settle(1000000, true);
    fake_java_threads();
    CU_ASSERT_EQUAL(ended, 1);
    CU_ASSERT_TRUE(duration_prepare(1000000)); /* of a trace that does not begin */
    CU_ASSERT_TRUE(duration_prepare(UINT64_C(3600) * SECOND_NS));
    duration_settle(UINT64_C(3600) * SECOND_NS, true);
    duration_forget();
    fake_java_threads();
    CU_ASSERT_EQUAL(ended, 1);
}

/* ---- rotate= ---- */

static _Atomic unsigned started;

static jint start_file(struct options *next)
{
    started++;
    struct session *session = session_prepare(next);
    return session != NULL && session_begin(session, fake_java_jni()) ? JNI_OK : JNI_ERR;
}

static bool await_files(unsigned count)
{
    for (int i = 0; i < 10000 && started < count; i++)
        usleep(1000);
    return started >= count;
}

/* A file follows another; as many stay as keep= says, and each knows its set and its number. */
static void test_rotation(void)
{
    char text[256];
    snprintf(text, sizeof text, "file=%s,ring=file,engine=sampled", scratch_path("ring.step"));
    CU_ASSERT_TRUE_FATAL(options_parse(&options, text));
    options.rotate_ns = 2000000;
    options.keep = 2;
    options.file_number = 1;
    rotation_initialize(start_file);
    started = 0;
    CU_ASSERT_EQUAL_FATAL(start_file(&options), JNI_OK);
    rotation_begin(&options);
    CU_ASSERT_TRUE(await_files(4));
    rotation_end();
    fake_java_threads();
    CU_ASSERT_TRUE(session_stop(END_STOPPED, 10 * SECOND_NS));
    unsigned last = started;
    for (unsigned i = 1; i <= last + 1; i++) {
        char name[32], number[16];
        snprintf(name, sizeof name, "ring.%06u.step", i);
        snprintf(number, sizeof number, "%u", i);
        CU_ASSERT_EQUAL(is_there(name), i + 2 > last && i <= last);
        if (!is_there(name))
            continue;
        open_trace(name);
        CU_ASSERT(has_property("file-number", number) && has_property("keep", "2"));
        CU_ASSERT(has_property("rotate-ns", "2000000") && has_property("end", "stopped"));
        CU_ASSERT_PTR_NOT_NULL(step_reader_property(trace, "file-set"));
        step_reader_destroy(trace);
    }
    CU_ASSERT_FALSE(is_there("ring.step"));
}

/* While a sample is recorded, all objects for a time, in a file between two of the sample's; the
 * first gets a number then. */
static void test_window(void)
{
    char text[256];
    snprintf(text, sizeof text, "file=%s,ring=file,engine=sampled", scratch_path("win.step"));
    CU_ASSERT_TRUE_FATAL(options_parse(&options, text));
    options.file_number = 1;
    rotation_initialize(start_file);
    started = 0;
    CU_ASSERT_EQUAL_FATAL(start_file(&options), JNI_OK);
    CU_ASSERT_TRUE(is_there("win.step"));
    struct options window;
    CU_ASSERT_TRUE_FATAL(options_parse(&window, "ring=file,engine=jvmti,events=class+thread"));
    window.window_ns = 1000000;
    CU_ASSERT_TRUE(rotation_window(&window));
    CU_ASSERT_TRUE(await_files(3));
    rotation_end();
    fake_java_threads();
    CU_ASSERT_TRUE(session_stop(END_STOPPED, 10 * SECOND_NS));
    static const char *const engines[] = {"sampled", "jvmti", "sampled"};
    for (unsigned i = 1; i <= 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "win.%06u.step", i);
        open_trace(name);
        const char *exact = step_reader_property(trace, "window");
        CU_ASSERT_TRUE(has_property("engine", engines[i - 1]));
        CU_ASSERT_EQUAL(exact != NULL && strcmp(exact, "exact") == 0, i == 2);
        step_reader_destroy(trace);
    }
    CU_ASSERT_FALSE(is_there("win.step") || is_there("win.000004.step"));
}

/* An exact window needs a sample that is recorded. */
static void test_no_window(void)
{
    begun("window.step", "");
    scratch_listen();
    bool taken = rotation_window(&options);
    struct scratch_heard heard = scratch_hear();
    CU_ASSERT_FALSE(taken);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.err, "no sample is being recorded"));
    CU_ASSERT_FALSE(rotation_window_entered());
    session_stop(END_STOPPED, 10 * SECOND_NS);
}

/* Nothing waits for a method of start=. */
static void test_triggers(void)
{
    CU_ASSERT_PTR_NULL(trigger_who_waits());
    CU_ASSERT_FALSE(trigger_disarm() || trigger_was_entered());
    CU_ASSERT_FALSE(stop_call_leave());
}

static int begin(void)
{
    fake_java_begin();
    return scratch_begin();
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("sessions", begin, scratch_end);
    CU_add_test(suite, "a whole session", test_whole);
    CU_add_test(suite, "the end of the JVM", test_vm_death);
    CU_add_test(suite, "limits", test_limits);
    CU_add_test(suite, "status", test_status);
    CU_add_test(suite, "discarding", test_discard);
    CU_add_test(suite, "files", test_files);
    CU_add_test(suite, "consequences", test_consequence);
    CU_add_test(suite, "numbered names", test_numbered_names);
    CU_add_test(suite, "engines", test_engines);
    CU_add_test(suite, "missed bytes", test_missed_bytes);
    CU_add_test(suite, "limits of memory", test_memory_limit);
    CU_add_test(suite, "duration", test_duration);
    CU_add_test(suite, "rotation", test_rotation);
    CU_add_test(suite, "a window", test_window);
    CU_add_test(suite, "no window", test_no_window);
    CU_add_test(suite, "triggers", test_triggers);
}
