/* SPDX-License-Identifier: Apache-2.0 */
/* The child that acts as the JVM's user: its answers, its limit, its rights; and names that are
 * free. */
#include <CUnit/Basic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "converter/cli/descriptors.h"
#include "converter/recorders/attach.h"
#include "tests/unit/run_suite.h"

#define MUCH ((size_t) 3 << 20)

static size_t received;

static enum step_status receive(void *receiver, const void *data, size_t length,
                                struct step_error *error)
{
    const size_t *most = receiver;
    (void) data;
    received += length;
    return received <= *most
               ? STEP_STATUS_OK
               : step_error_set(error, STEP_STATUS_LIMIT, NULL, STEP_NO_OFFSET, "much");
}

static enum step_status work_much(const struct jvm_process *process, void *context, int output,
                                  struct step_error *error)
{
    char *data = calloc(1, MUCH);
    (void) process;
    (void) context;
    if (data != NULL && output_write_all(output, data, MUCH))
        return STEP_STATUS_OK;
    return step_error_set(error, STEP_STATUS_IO, NULL, STEP_NO_OFFSET, "not written");
}

static enum step_status work_fail(const struct jvm_process *process, void *context, int output,
                                  struct step_error *error)
{
    (void) process;
    (void) output;
    return step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET, "%s", (char *) context);
}

/* Some bytes, and then nothing for ever. */
static enum step_status work_stall(const struct jvm_process *process, void *context, int output,
                                   struct step_error *error)
{
    (void) process;
    (void) context;
    while (output_write_all(output, "bytes", 5) && pause() != 0)
        pause();
    return step_error_set(error, STEP_STATUS_IO, NULL, STEP_NO_OFFSET, "woken");
}

static enum step_status work_die(const struct jvm_process *process, void *context, int output,
                                 struct step_error *error)
{
    (void) process;
    (void) context;
    (void) output;
    (void) error;
    raise(SIGKILL);
    return STEP_STATUS_OK;
}

/* Nothing of the caller is left that the JVM's user could use. */
static enum step_status work_look(const struct jvm_process *process, void *context, int output,
                                  struct step_error *error)
{
    char line[256];
    unsigned long long capabilities = 1;
    (void) context;
    (void) output;
    FILE *file = fopen("/proc/self/status", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (sscanf(line, "CapPrm: %llx", &capabilities) == 1)
            break;
    if (geteuid() == process->uid && getegid() == process->gid && capabilities == 0 &&
        prctl(PR_GET_DUMPABLE) == 0)
        return STEP_STATUS_OK;
    return step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET, "rights are left");
}

/* As root another user, without groups. */
static struct jvm_process somebody(void)
{
    static gid_t groups[64];
    int count = getgroups(64, groups);
    bool is_root = geteuid() == 0;
    return (struct jvm_process){.pid = getpid(),
                                .uid = is_root ? 4242 : geteuid(),
                                .gid = is_root ? 4242 : getegid(),
                                .groups = groups,
                                .group_count = is_root || count < 0 ? 0 : (size_t) count,
                                .root = -1,
                                .mount_namespace = -1};
}

static enum step_status call(target_work *work, void *context, size_t most,
                             struct step_error *error)
{
    const struct jvm_process process = somebody();
    const struct target_call wanted = {.work = work,
                                       .context = context,
                                       .receive = receive,
                                       .receiver = &most,
                                       .limit_s = work == work_stall ? 1 : 60};
    received = 0;
    return target_user_call(&process, &wanted, error);
}

static void test_answers(void)
{
    struct step_error error = {.message = ""};
    char fault[] = "a fault";
    CU_ASSERT_EQUAL(call(work_much, NULL, MUCH, &error), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(received, MUCH);
    CU_ASSERT_EQUAL(call(work_fail, fault, MUCH, &error), STEP_STATUS_INVALID);
    CU_ASSERT_STRING_EQUAL(error.message, fault);
    CU_ASSERT_EQUAL(call(work_much, NULL, MUCH / 2, &error), STEP_STATUS_LIMIT);
    CU_ASSERT(received < MUCH);
    CU_ASSERT_EQUAL(call(work_die, NULL, MUCH, &error), STEP_STATUS_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "killed"));
}

static void test_limit(void)
{
    struct step_error error = {.message = ""};
    CU_ASSERT_EQUAL(call(work_stall, NULL, MUCH, &error), STEP_STATUS_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "1 second"));
    CU_ASSERT_EQUAL(received, 5);
}

static void test_rights(void)
{
    struct step_error error = {.message = ""};
    CU_ASSERT_EQUAL(call(work_look, NULL, MUCH, &error), STEP_STATUS_OK);
}

static void expect_name(const char *directory, const char *wanted, const char *name)
{
    char path[256], out[512], full[256];
    snprintf(path, sizeof path, "%s/%s", directory, wanted);
    snprintf(full, sizeof full, "%s/%s", directory, name);
    CU_ASSERT(trace_name_free(path, out, sizeof out));
    CU_ASSERT_STRING_EQUAL(out, full);
}

static void put(const char *directory, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    if (file != NULL)
        fclose(file);
}

static void test_names(void)
{
    char directory[] = "/tmp/steptrace-name.d-XXXXXX", command[256];
    char out[16];
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(directory));
    expect_name(directory, "run.step", "run.step");
    put(directory, "run.step");
    expect_name(directory, "run.step", "run.2.step");
    put(directory, "run.2.step.live");
    expect_name(directory, "run.step", "run.3.step");
    put(directory, "run");
    expect_name(directory, "run", "run.2");
    put(directory, ".run");
    expect_name(directory, ".run", ".run.2");
    snprintf(command, sizeof command, "%s/gone", directory);
    CU_ASSERT(symlink("nowhere", command) == 0);
    expect_name(directory, "gone", "gone.2");
    CU_ASSERT_FALSE(trace_name_free("a name that is too long", out, sizeof out));
    snprintf(command, sizeof command, "rm -r '%s'", directory);
    CU_ASSERT(system(command) == 0);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("target user", NULL, NULL);
    CU_add_test(suite, "answers", test_answers);
    CU_add_test(suite, "limit", test_limit);
    CU_add_test(suite, "rights", test_rights);
    CU_add_test(suite, "names", test_names);
}
