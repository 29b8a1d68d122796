/* SPDX-License-Identifier: Apache-2.0 */
/* Locks of files that are replaced, beside POSIX's, which a JVM takes. */
#include <CUnit/Basic.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "converter/output/output_lock.h"
#include "tests/unit/run_suite.h"

static char top[] = "/tmp/unit-lock-XXXXXX";

static void make(const char *text)
{
    FILE *file = fopen("f", "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fputs(text, file);
    fclose(file);
}

/* Ends with 0 if another process gets POSIX's lock at once. */
static bool is_free(void)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        int file = open("f", O_RDWR);
        _exit(fcntl(file, F_SETLK, &all) == 0 ? 0 : 1);
    }
    waitpid(child, &status, 0);
    return status == 0;
}

static void test_held(void)
{
    struct output_lock lock;
    make("text");
    CU_ASSERT_EQUAL(output_lock_take(&lock, "f", NULL), STEP_STATUS_OK);
    close(open("f", O_RDONLY)); /* would end POSIX's lock */
    CU_ASSERT_FALSE(is_free());
    output_lock_release(&lock);
    CU_ASSERT_TRUE(is_free());
    CU_ASSERT_EQUAL(access("f", F_OK), 0);
    unlink("f");
}

static void test_new(void)
{
    struct output_lock lock;
    struct stat about;
    CU_ASSERT_EQUAL(output_lock_take(&lock, "f", NULL), STEP_STATUS_OK);
    CU_ASSERT(stat("f", &about) == 0 && about.st_size == 0);
    CU_ASSERT_FALSE(is_free());
    output_lock_release(&lock);
    CU_ASSERT_NOT_EQUAL(access("f", F_OK), 0);
    CU_ASSERT_EQUAL(output_lock_take(&lock, "f", NULL), STEP_STATUS_OK);
    unlink("f");
    make("another");
    output_lock_release(&lock);
    CU_ASSERT_EQUAL(access("f", F_OK), 0);
    unlink("f");
}

/* The file that was waited for has lost its name to another one. */
static void test_replaced(void)
{
    struct output_lock lock;
    struct stat about;
    int ready[2], status;
    char byte = 0;
    make("old");
    CU_ASSERT_EQUAL_FATAL(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        int file = open("f", O_RDWR);
        bool locked = fcntl(file, F_SETLK, &all) == 0 && write(ready[1], &byte, 1) == 1;
        usleep(300000);
        unlink("f");
        make("new");
        _exit(locked ? 0 : 1);
    }
    CU_ASSERT_EQUAL(read(ready[0], &byte, 1), 1);
    CU_ASSERT_EQUAL(output_lock_take(&lock, "f", NULL), STEP_STATUS_OK);
    CU_ASSERT(stat("f", &about) == 0 && about.st_ino == lock.about.st_ino);
    CU_ASSERT_FALSE(is_free());
    output_lock_release(&lock);
    waitpid(child, &status, 0);
    CU_ASSERT_EQUAL(status, 0);
    close(ready[0]);
    close(ready[1]);
    unlink("f");
}

static void test_no_file(void)
{
    struct output_lock lock;
    struct step_error error;
    mkfifo("f", 0600);
    CU_ASSERT_EQUAL(output_lock_take(&lock, "f", &error), STEP_STATUS_IO);
    CU_ASSERT_STRING_EQUAL(error.message, "no regular file");
    unlink("f");
    CU_ASSERT_EQUAL(symlink("nowhere", "f"), 0);
    CU_ASSERT_EQUAL(output_lock_take(&lock, "f", &error), STEP_STATUS_IO);
    unlink("f");
    CU_ASSERT_EQUAL(output_lock_take(&lock, "none/f", &error), STEP_STATUS_IO);
}

void add_suite(void)
{
    if (mkdtemp(top) == NULL || chdir(top) != 0)
        abort();
    CU_pSuite suite = CU_add_suite("locks of outputs", NULL, NULL);
    CU_add_test(suite, "a lock keeps others out", test_held);
    CU_add_test(suite, "a file that is made for the lock", test_new);
    CU_add_test(suite, "a file that is replaced meanwhile", test_replaced);
    CU_add_test(suite, "what is no file", test_no_file);
}
