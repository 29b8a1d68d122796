/* SPDX-License-Identifier: Apache-2.0 */
/* A program and its drain, a process of its own: they share a file at the same addresses, one
 * stores raw records, the other writes the trace, however the program ends. */
#include <CUnit/Basic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "malloc-recorder/drain/drain_run.h"
#include "malloc-recorder/recorder.h"
#include "malloc-recorder/shared_map.h"
#include "steptrace/reader.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/scratch.h"

struct recorder recorder;

static struct recording recording;
static pid_t drain;
static uint64_t now; /* the last stamp */

/* In the child: the drain of that process. */
static void be_drain(pid_t program, const char *file, const struct drain_numbers *numbers,
                     int output)
{
    struct native_trace *trace = calloc(1, sizeof *trace);
    if (trace == NULL)
        _exit(2);
    *trace = (struct native_trace){.process = (uint64_t) program,
                                   .wanted_file = file,
                                   .options = "file=x,unit=yes",
                                   .numbers = *numbers,
                                   .process_file = -1};
    munmap(recording.base, recording.range_bytes);
    enum native_trace_start started = native_trace_start(trace);
    const char *reply = started == NATIVE_TRACE_READY           ? trace->live_path
                        : started == NATIVE_TRACE_ADDRESS_TAKEN ? DRAIN_ADDRESS_TAKEN
                                                                : "";
    if (started == NATIVE_TRACE_READY)
        native_trace_describe(trace);
    if (write(output, reply, strlen(reply) + 1) <= 0 || started != NATIVE_TRACE_READY)
        _exit(1);
    close(output);
    drain_run(trace);
    _exit(0);
}

/* Starts the drain of a process, and returns what it replies. */
static const char *start_drain(pid_t program, const char *name, uint64_t limit_bytes)
{
    static char reply[4200];
    int ends[2];
    memset(&recording, 0, sizeof recording);
    CU_ASSERT_TRUE_FATAL(shared_map_reserve(&recording, 0));
    recorder.start = clock_moment_now();
    const struct drain_numbers numbers = {.address = (uintptr_t) recording.base,
                                          .range_bytes = recording.range_bytes,
                                          .buffer_bytes = 16 << 20,
                                          .limit_bytes = limit_bytes,
                                          .level = 1,
                                          .mode = 0640,
                                          .uses_counter = clock_uses_counter,
                                          .start_raw = recorder.start.raw,
                                          .start_monotonic_ns = recorder.start.monotonic_ns,
                                          .start_wall_ns = recorder.start.wall_ns};
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    drain = fork();
    CU_ASSERT_FATAL(drain >= 0);
    if (drain == 0)
        be_drain(program, scratch_path(name), &numbers, ends[1]);
    close(ends[1]);
    ssize_t got = read(ends[0], reply, sizeof reply - 1);
    close(ends[0]);
    reply[got > 0 ? got : 0] = '\0';
    return reply;
}

static struct live_stream *begin(pid_t program, const char *name, uint64_t limit_bytes)
{
    const char *live = start_drain(program, name, limit_bytes);
    char wanted[600];
    snprintf(wanted, sizeof wanted, "%s" STEP_LIVE_SUFFIX, scratch_path(name));
    CU_ASSERT_STRING_EQUAL(live, wanted);
    CU_ASSERT_TRUE_FATAL(shared_map_open(&recording, live));
    struct live_stream *stream = live_stream_create(&recording.map, false);
    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    now = 0;
    return stream;
}

static bool put(struct live_stream *stream, uint32_t kind, uint64_t first, uint64_t second,
                size_t count)
{
    uint64_t *room = live_reserve(&recording.map, stream, count);
    if (room == NULL)
        return false;
    room[0] = live_word(kind, ++now);
    room[1] = first;
    if (count > 2)
        room[2] = second;
    live_commit(stream, count, 1);
    return true;
}

static bool put_pairs(struct live_stream *stream, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (!put(stream, STEP_LIVE_HEAP_ALLOC, 24 + i % 8, 4096 + 64 * i, 3) ||
            (i % 2 == 0 && !put(stream, STEP_LIVE_HEAP_FREE, 4096 + 64 * i, 0, 2)))
            return false;
    return true;
}

static bool await_drain(void)
{
    int code = 1;
    for (int i = 0; i < 20000; i++) {
        pid_t ended = waitpid(drain, &code, WNOHANG);
        if (ended == drain)
            return WIFEXITED(code) && WEXITSTATUS(code) == 0;
        usleep(1000);
    }
    kill(drain, SIGKILL);
    waitpid(drain, &code, 0);
    return false;
}

static void end(const char *reason)
{
    snprintf(recording.control->end, sizeof recording.control->end, "%s", reason);
    atomic_store(&recording.control->end_wanted, 1);
    futex_gate_open(&recording.control->shared.work);
}

static struct step_reader *trace;

static bool has_property(const char *key, const char *value)
{
    const char *found = step_reader_property(trace, key);
    return found != NULL && strcmp(found, value) == 0;
}

static uint64_t open_trace(const char *name)
{
    uint64_t count = 0;
    CU_ASSERT_EQUAL_FATAL(step_reader_open(scratch_path(name), &trace, NULL), STEP_STATUS_OK);
    CU_ASSERT_TRUE(step_reader_is_whole(trace));
    CU_ASSERT_EQUAL(step_reader_damage_count(trace), 0);
    for (size_t i = 0; i < step_reader_block_count(trace); i++)
        count += step_reader_block_info(trace, i)->record_count;
    return count;
}

/* All records are in the trace, in more chunks than one; the live file is gone. */
static void test_end(void)
{
    struct live_stream *stream = begin(getpid(), "end.step", 0);
    CU_ASSERT_TRUE(put_pairs(stream, 40000));
    CU_ASSERT_TRUE(shared_map_is_drained(&recording.map));
    end("exit");
    CU_ASSERT_TRUE(await_drain());
    CU_ASSERT_EQUAL(atomic_load(&recording.control->is_closed), 1);
    CU_ASSERT_EQUAL(open_trace("end.step"), 60000);
    char process[32];
    snprintf(process, sizeof process, "%ld", (long) getpid());
    CU_ASSERT(has_property("end", "exit") && has_property("options", "file=x,unit=yes"));
    CU_ASSERT(has_property("process-id", process) && has_property("missed", "0"));
    CU_ASSERT_PTR_NULL(step_reader_property(trace, "incomplete"));
    CU_ASSERT_PTR_NOT_NULL(step_reader_property(trace, "clock-scale"));
    CU_ASSERT_PTR_NULL(step_reader_property(trace, "forked-from"));
    step_reader_destroy(trace);
    CU_ASSERT_NOT_EQUAL(access(scratch_path("end.step" STEP_LIVE_SUFFIX), F_OK), 0);
    shared_map_close(&recording);
}

/* The program is killed: its records up to then are in the trace all the same. */
static void test_killed(void)
{
    pid_t program = fork();
    if (program == 0)
        for (;;)
            pause();
    struct live_stream *stream = begin(program, "killed.step", 0);
    CU_ASSERT_TRUE(put_pairs(stream, 10));
    kill(program, SIGKILL);
    waitpid(program, NULL, 0);
    CU_ASSERT_TRUE(await_drain());
    CU_ASSERT_EQUAL(open_trace("killed.step"), 15);
    CU_ASSERT_TRUE(has_property("end", "killed"));
    step_reader_destroy(trace);
    shared_map_close(&recording);
}

/* The limit of the file cuts the trace, which is whole up to there and not larger. */
static void test_limit(void)
{
    enum { LIMIT = 200000 };
    struct live_stream *stream = begin(getpid(), "limit.step", LIMIT);
    uint64_t put_count = 0;
    uint64_t state = 1;
    for (; put_count < 3000000 && !atomic_load(&recording.control->is_closed); put_count++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        if (!put(stream, STEP_LIVE_HEAP_ALLOC, state >> 50, state >> 20 << 4, 3))
            break;
    }
    end("exit");
    CU_ASSERT_TRUE(await_drain());
    uint64_t count = open_trace("limit.step");
    CU_ASSERT(count > 0 && count < put_count);
    CU_ASSERT_TRUE(has_property("end", "limit"));
    CU_ASSERT(step_reader_file_size(trace) <= LIMIT);
    step_reader_destroy(trace);
    shared_map_close(&recording);
}

/* Records that found no room are missing from a moment on, and the trace ends there. */
static void test_lost(void)
{
    struct live_stream *stream = begin(getpid(), "lost.step", 0);
    CU_ASSERT_TRUE(put_pairs(stream, 10)); /* stamps 1 to 15 */
    now = 99;
    CU_ASSERT_TRUE(put(stream, STEP_LIVE_HEAP_ALLOC, 8, 1 << 20, 3));
    atomic_store(&recording.map.header->lost_stamp, 50);
    end("exit");
    CU_ASSERT_TRUE(await_drain());
    CU_ASSERT_EQUAL(open_trace("lost.step"), 15);
    CU_ASSERT_TRUE(has_property("end", "failed"));
    CU_ASSERT_PTR_NOT_NULL(step_reader_property(trace, STEP_LIVE_MISSING_AFTER));
    step_reader_destroy(trace);
    shared_map_close(&recording);
}

/* Memory grew without allocations: the program has an allocator that was not seen. */
static void test_unseen(void)
{
    struct live_stream *stream = begin(getpid(), "unseen.step", 0);
    CU_ASSERT_TRUE(put_pairs(stream, 1));
    recording.control->grown_bytes = UINT64_C(64) << 20;
    snprintf(recording.control->bypassed, sizeof recording.control->bypassed, "libown.so");
    end("exit");
    CU_ASSERT_TRUE(await_drain());
    open_trace("unseen.step");
    const char *reason = step_reader_property(trace, "incomplete");
    CU_ASSERT(reason != NULL && strstr(reason, "grew by 64.0 MiB") != NULL);
    CU_ASSERT_TRUE(has_property("bypassed-by", "libown.so"));
    step_reader_destroy(trace);
    shared_map_close(&recording);
}

/* Without a directory nothing is begun, and no file stays. */
static void test_cannot(void)
{
    scratch_listen();
    const char *reply = start_drain(getpid(), "no/dir.step", 0);
    bool has_begun = await_drain();
    struct scratch_heard heard = scratch_hear();
    CU_ASSERT_STRING_EQUAL(reply, "");
    CU_ASSERT_FALSE(has_begun);
    CU_ASSERT_PTR_NOT_NULL(strstr(heard.err, "No such file or directory"));
    shared_map_close(&recording);
    CU_ASSERT_PTR_NULL(recording.base);
}

/* Something else than a live file, or one of another build, is not used. */
static void test_other_file(void)
{
    char page[8192] = "no live file";
    memset(&recording, 0, sizeof recording);
    CU_ASSERT_TRUE_FATAL(shared_map_reserve(&recording, 1));
    CU_ASSERT_FALSE(shared_map_open(&recording, scratch_path("none.live")));
    CU_ASSERT_FALSE(shared_map_open(&recording, scratch_put("other.live", page, sizeof page)));
    shared_map_close(&recording);
}

/* A drain that is silent is given up after some looks, and each sign of life begins anew. */
static void test_silence(void)
{
    static struct drain_control control;
    unsigned looks = 0;
    memset(&recording, 0, sizeof recording);
    recording.control = &control;
    control.beat = 1;
    CU_ASSERT_TRUE(shared_map_is_drained(&recording.map));
    while (looks < 100 && shared_map_is_drained(&recording.map))
        looks++;
    CU_ASSERT_EQUAL(looks, DRAIN_SILENCES - 1);
    control.beat++;
    CU_ASSERT_TRUE(shared_map_is_drained(&recording.map));
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("programs and drains", scratch_begin, scratch_end);
    CU_add_test(suite, "the end", test_end);
    CU_add_test(suite, "a program that is killed", test_killed);
    CU_add_test(suite, "the limit", test_limit);
    CU_add_test(suite, "records that were lost", test_lost);
    CU_add_test(suite, "an allocator that was not seen", test_unseen);
    CU_add_test(suite, "no directory", test_cannot);
    CU_add_test(suite, "other files", test_other_file);
    CU_add_test(suite, "silence", test_silence);
}
