/* SPDX-License-Identifier: Apache-2.0 */
/* A trace's files, written in this process and by the writer process, which is this program once
 * more, begun by the loader. */
#include <CUnit/Basic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/trace_store.h"
#include "steptrace/live.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/scratch.h"

static struct trace_store_wanted wanted_of(const char *name, enum ring_place_option ring)
{
    return (struct trace_store_wanted){
        .path = scratch_path(name), .rules = {.mode = 0640}, .ring = ring, .buffer_bytes = 1 << 20};
}

static enum step_status put(struct trace_store *store, const char *text)
{
    struct step_output output = trace_store_output(store);
    return output.write(output.user, text, strlen(text), NULL);
}

static struct trace_store *opened(const struct trace_store_wanted *wanted)
{
    struct trace_store *store = NULL;
    struct step_error error = {.message = ""};
    CU_ASSERT_EQUAL(trace_store_open(wanted, &store, &error), STEP_STATUS_OK);
    CU_ASSERT_PTR_NOT_NULL_FATAL(store);
    CU_ASSERT((store->writer != NULL) == (wanted->ring == RING_MEMORY));
    return store;
}

static bool is_there(const char *name)
{
    return access(scratch_path(name), F_OK) == 0;
}

static const char *const names[] = {"memory", "file"};

/* What is written is in the file in its order, with the mode that was asked for; at the end the
 * live file is gone. */
static void test_write(void)
{
    for (enum ring_place_option ring = RING_MEMORY; ring <= RING_FILE; ring++) {
        char live[64];
        struct stat about;
        struct trace_store_wanted wanted = wanted_of(names[ring], ring);
        struct trace_store *store = opened(&wanted);
        snprintf(live, sizeof live, "%s" STEP_LIVE_SUFFIX, names[ring]);
        CU_ASSERT_STRING_EQUAL(store->path, scratch_path(names[ring]));
        CU_ASSERT_TRUE(is_there(live));
        CU_ASSERT(stat(store->path, &about) == 0 && (about.st_mode & 0777) == 0640);
        CU_ASSERT(store->identity.inode == about.st_ino);
        CU_ASSERT_TRUE(trace_store_reserve(store, 100));
        CU_ASSERT_EQUAL(put(store, "one "), STEP_STATUS_OK);
        CU_ASSERT_EQUAL(put(store, ""), STEP_STATUS_OK);
        CU_ASSERT_EQUAL(put(store, "two"), STEP_STATUS_OK);
        CU_ASSERT_FALSE(store->full);
        trace_store_end(store, false);
        trace_store_destroy(store);
        CU_ASSERT_STRING_EQUAL(scratch_read(scratch_path(names[ring]), NULL), "one two");
        CU_ASSERT_FALSE(is_there(live));
    }
}

/* More than the writer process takes with one call. */
static void test_much(void)
{
    size_t length = 0, much = 2 * (size_t) WRITER_DATA_BYTES + 5;
    char *bytes = malloc(much);
    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    for (size_t i = 0; i < much; i++)
        bytes[i] = (char) (i * 7 >> 5);
    struct trace_store_wanted wanted = wanted_of("much", RING_MEMORY);
    struct trace_store *store = opened(&wanted);
    struct step_output output = trace_store_output(store);
    CU_ASSERT_EQUAL(output.write(output.user, bytes, much, NULL), STEP_STATUS_OK);
    trace_store_end(store, false);
    trace_store_destroy(store);
    FILE *file = fopen(scratch_path("much"), "rb");
    char *back = malloc(much + 1);
    CU_ASSERT_FATAL(file != NULL && back != NULL);
    length = fread(back, 1, much + 1, file);
    CU_ASSERT(length == much && memcmp(bytes, back, much) == 0);
    fclose(file);
    free(back);
    free(bytes);
}

static void test_discard(void)
{
    for (enum ring_place_option ring = RING_MEMORY; ring <= RING_FILE; ring++) {
        struct trace_store_wanted wanted = wanted_of("discarded", ring);
        struct trace_store *store = opened(&wanted);
        CU_ASSERT_EQUAL(put(store, "nobody wants it"), STEP_STATUS_OK);
        trace_store_discard(store);
        CU_ASSERT_FALSE(is_there("discarded") || is_there("discarded" STEP_LIVE_SUFFIX));
    }
}

/* A trace that is there keeps its name. */
static void test_taken(void)
{
    for (enum ring_place_option ring = RING_MEMORY; ring <= RING_FILE; ring++) {
        scratch_put_text("taken.step", "another's");
        struct trace_store_wanted wanted = wanted_of("taken.step", ring);
        scratch_listen();
        struct trace_store *store = opened(&wanted);
        struct scratch_heard heard = scratch_hear();
        CU_ASSERT_PTR_NOT_NULL(strstr(heard.err, "taken.2.step"));
        CU_ASSERT_STRING_EQUAL(store->path, scratch_path("taken.2.step"));
        trace_store_discard(store);
        CU_ASSERT_STRING_EQUAL(scratch_read(scratch_path("taken.step"), NULL), "another's");
    }
}

/* Where the files cannot be made, the reason comes from whichever process found it. */
static void test_cannot(void)
{
    for (enum ring_place_option ring = RING_MEMORY; ring <= RING_FILE; ring++) {
        struct trace_store_wanted wanted = wanted_of("no/such/directory", ring);
        struct trace_store *store = NULL;
        struct step_error error = {.message = ""};
        CU_ASSERT_NOT_EQUAL(trace_store_open(&wanted, &store, &error), STEP_STATUS_OK);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "No such file or directory"));
        CU_ASSERT_PTR_NULL(store);
    }
}

/* The writer process is killed: the next call says so, and none waits after that. */
static void test_killed(void)
{
    struct trace_store_wanted wanted = wanted_of("killed", RING_MEMORY);
    struct trace_store *store = opened(&wanted);
    CU_ASSERT_EQUAL(put(store, "before"), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(kill(store->writer->process, SIGKILL), 0);
    scratch_listen();
    enum step_status first = put(store, "after"), second = put(store, "after");
    bool reserved = trace_store_reserve(store, 1);
    struct scratch_heard heard = scratch_hear();
    CU_ASSERT(first == STEP_STATUS_IO && second == STEP_STATUS_IO && !reserved);
    CU_ASSERT_TRUE(store->writer->is_lost);
    const char *said = strstr(heard.err, "has ended: it was killed");
    CU_ASSERT(said != NULL && strstr(said + 1, "has ended") == NULL); /* once */
    trace_store_end(store, true);
    trace_store_destroy(store);
    CU_ASSERT_TRUE(is_there("killed" STEP_LIVE_SUFFIX));
}

static unsigned asked;

static bool give_up(void *owner, uint64_t waited_ns)
{
    (void) waited_ns;
    asked++;
    return owner != NULL;
}

/* Stops the process, and waits until it stands still. */
static void stop_process(pid_t process)
{
    char path[64], state = '\0';
    snprintf(path, sizeof path, "/proc/%ld/stat", (long) process);
    CU_ASSERT_EQUAL(kill(process, SIGSTOP), 0);
    for (int i = 0; i < 10000 && state != 'T'; i++) {
        FILE *file = fopen(path, "r");
        if (file == NULL || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
            state = '\0';
        if (file != NULL)
            fclose(file);
        usleep(1000);
    }
    CU_ASSERT_EQUAL(state, 'T');
}

/* A writer that does not answer: the owner decides how long a call waits. */
static void test_stopped(void)
{
    struct trace_store_wanted wanted = wanted_of("stopped", RING_MEMORY);
    wanted.gives_up = give_up;
    wanted.owner = &wanted;
    struct trace_store *store = opened(&wanted);
    pid_t process = store->writer->process;
    stop_process(process);
    scratch_listen();
    enum step_status status = put(store, "late");
    struct scratch_heard heard = scratch_hear();
    CU_ASSERT_EQUAL(status, STEP_STATUS_IO);
    CU_ASSERT(asked > 0 && strstr(heard.err, "does not respond") != NULL);
    kill(process, SIGCONT);
    trace_store_end(store, true);
    trace_store_destroy(store);
}

/* The writer process, whose arguments follow those of the loader. */
static void be_writer(void)
{
    static char text[4096];
    char *arguments[8] = {NULL};
    int count = 0;
    FILE *file = fopen("/proc/self/cmdline", "r");
    size_t length = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
    for (char *at = text + strlen(text) + 1; at < text + length && count < 8; at += strlen(at) + 1)
        arguments[count++] = at;
    if (file != NULL)
        fclose(file);
    _exit(writer_process_main(count, arguments));
}

void add_suite(void)
{
    if (suite_argument != NULL)
        be_writer();
    CU_pSuite suite = CU_add_suite("trace store", scratch_begin, scratch_end);
    CU_add_test(suite, "writing", test_write);
    CU_add_test(suite, "much", test_much);
    CU_add_test(suite, "discarding", test_discard);
    CU_add_test(suite, "a name that is taken", test_taken);
    CU_add_test(suite, "no directory", test_cannot);
    CU_add_test(suite, "a writer that is killed", test_killed);
    CU_add_test(suite, "a writer that does not answer", test_stopped);
}
