/* SPDX-License-Identifier: Apache-2.0 */
/* What is opened to be read, and what is not waited for: nobody writes the FIFO. */
#include <CUnit/Basic.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/core/input_file.h"
#include "tests/unit/run_suite.h"

static char top[] = "/tmp/unit-input-XXXXXX";

static int make_top(void)
{
    if (mkdtemp(top) == NULL || chdir(top) != 0 || mkfifo("fifo", 0600) != 0 ||
        mkdir("directory", 0700) != 0 || symlink("file", "link") != 0)
        return 1;
    int file = open("file", O_WRONLY | O_CREAT, 0600);
    return file < 0 || write(file, "text", 4) != 4 || close(file) != 0;
}

static int remove_top(void)
{
    int failed = unlink("fifo") | rmdir("directory") | unlink("link") | unlink("file");
    return failed != 0 || chdir("/") != 0 || rmdir(top) != 0;
}

static void check_opened(int file, const struct stat *about)
{
    CU_ASSERT_FATAL(file >= 0);
    CU_ASSERT_EQUAL(about->st_size, 4);
    CU_ASSERT_EQUAL(fcntl(file, F_GETFD), FD_CLOEXEC);
    close(file);
}

static void test_regular(void)
{
    struct stat about;
    alarm(60); /* ends the test if something is waited for */
    check_opened(input_file_open("file", INPUT_REGULAR, &about), &about);
    check_opened(input_file_open("link", INPUT_REGULAR, &about), &about);
    static const char *const others[] = {"fifo", "directory", "/dev/null"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        CU_ASSERT_EQUAL(input_file_open(others[i], INPUT_REGULAR, NULL), INPUT_NOT_REGULAR);
        CU_ASSERT_EQUAL(errno, EINVAL);
        CU_ASSERT_PTR_NULL(input_file_stream(others[i], INPUT_REGULAR));
    }
    CU_ASSERT_EQUAL(input_file_open("none", INPUT_REGULAR, NULL), -1);
    CU_ASSERT_EQUAL(errno, ENOENT);
    alarm(0);
}

static void test_stream(void)
{
    struct stat about;
    check_opened(input_file_open("file", INPUT_STREAM, &about), &about);
    int file = input_file_open("/dev/null", INPUT_STREAM, NULL);
    CU_ASSERT(file >= 0);
    close(file);
    int writer = open("fifo", O_RDWR | O_CLOEXEC); /* so that nothing has to be waited for */
    FILE *stream = input_file_stream("fifo", INPUT_STREAM);
    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    CU_ASSERT_EQUAL(write(writer, "x", 1), 1);
    CU_ASSERT_EQUAL(fgetc(stream), 'x');
    fclose(stream);
    close(writer);
}

static void test_in_directory(void)
{
    struct stat about;
    int directory = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    alarm(60);
    check_opened(input_file_open_in(directory, "file", &about), &about);
    CU_ASSERT_EQUAL(input_file_open_in(directory, "link", NULL), -1);
    CU_ASSERT_EQUAL(errno, ELOOP);
    CU_ASSERT_EQUAL(input_file_open_in(directory, "fifo", NULL), INPUT_NOT_REGULAR);
    alarm(0);
    for (int passes = 0; passes < 2; passes++) {
        DIR *files = input_directory_list(directory);
        int count = 0;
        CU_ASSERT_PTR_NOT_NULL_FATAL(files);
        while (readdir(files) != NULL)
            count++;
        CU_ASSERT_EQUAL(count, 6); /* with . and .. */
        closedir(files);
    }
    close(directory);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("inputs", make_top, remove_top);
    CU_add_test(suite, "a regular file, and nothing else", test_regular);
    CU_add_test(suite, "what the user named", test_stream);
    CU_add_test(suite, "in a directory", test_in_directory);
}
