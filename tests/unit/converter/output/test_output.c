/* SPDX-License-Identifier: Apache-2.0 */
/* Files and directories whose names somebody else takes between the first look and the end.  A
 * file stands outside of the directory of the output, and nothing may change or remove it.  Users
 * 4242 and 4243 stand for others where the test runs as root. */
#include <CUnit/Basic.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "converter/output/output_directory.h"
#include "converter/output/output_file.h"
#include "converter/output/output_signals.h"
#include "tests/unit/run_suite.h"

#define OTHER_USER 4242

static char top[] = "/tmp/unit-output-XXXXXX";

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fputs(text, file);
    fclose(file);
}

static bool has_text(const char *path, const char *wanted)
{
    char text[64] = "";
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    return strcmp(text, wanted) == 0;
}

/* Returns how many names match, and the first of them. */
static size_t count_names(const char *pattern, char *first)
{
    glob_t found;
    size_t count = glob(pattern, 0, NULL, &found) == 0 ? found.gl_pathc : 0;
    if (count > 0 && first != NULL)
        snprintf(first, 256, "%s", found.gl_pathv[0]);
    if (count > 0)
        globfree(&found);
    return count;
}

/* An empty directory d to write in, and a victim beside it. */
static void start(void)
{
    CU_ASSERT_EQUAL_FATAL(chdir(top), 0);
    CU_ASSERT_EQUAL_FATAL(system("rm -rf ./* && mkdir d victim"), 0);
    write_text("victim/trace", "kept");
}

static void check_victim(void)
{
    CU_ASSERT(has_text("victim/trace", "kept"));
    CU_ASSERT_EQUAL(count_names("victim/*", NULL), 1);
}

static void open_file(struct output_file *file, const char *path)
{
    struct step_error error;
    CU_ASSERT_EQUAL_FATAL(output_file_open(file, path, &error), STEP_STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(output_file_write(file, "new", 3, &error), STEP_STATUS_OK);
}

static enum step_status open_fails(const char *path, bool is_own)
{
    struct output_file file;
    struct step_error error;
    return is_own ? output_file_open_own(&file, path, &error)
                  : output_file_open(&file, path, &error);
}

static bool opens(const char *path)
{
    struct output_file file;
    struct step_error error;
    bool opened = output_file_open(&file, path, &error) == STEP_STATUS_OK;
    if (opened)
        output_file_abort(&file);
    return opened;
}

/* ---- files ---- */

static void test_file(void)
{
    struct output_file file;
    struct step_error error;
    start();
    open_file(&file, "d/out");
    CU_ASSERT_EQUAL(access("d/out", F_OK), -1);
    CU_ASSERT_EQUAL(output_file_commit(&file, &error), STEP_STATUS_OK);
    CU_ASSERT(has_text("d/out", "new"));
    write_text("d/out", "old");
    open_file(&file, "d/out");
    output_file_abort(&file);
    CU_ASSERT(has_text("d/out", "old"));
    CU_ASSERT_EQUAL(count_names("d/*", NULL), 1);
}

static void test_temporary_name_taken(void)
{
    struct output_file file;
    struct step_error error;
    char temporary[256];
    for (int commits = 0; commits < 2; commits++) {
        start();
        open_file(&file, "d/out");
        CU_ASSERT_EQUAL_FATAL(count_names("d/out.??????", temporary), 1);
        CU_ASSERT_EQUAL(unlink(temporary), 0);
        CU_ASSERT_EQUAL(symlink("../victim/trace", temporary), 0);
        /* what opens the file again, as minizip does, gets the file that was made */
        const char *path = output_file_seekable_path(&file, &error);
        CU_ASSERT_PTR_NOT_NULL_FATAL(path);
        write_text(path, "zip");
        if (commits)
            CU_ASSERT_EQUAL(output_file_commit(&file, &error), STEP_STATUS_IO);
        output_file_abort(&file);
        CU_ASSERT_EQUAL(count_names("d/out.??????", NULL), 1); /* it is not ours */
        CU_ASSERT_EQUAL(access("d/out", F_OK), -1);
        check_victim();
    }
}

static void test_name_taken(void)
{
    struct output_file file;
    struct step_error error;
    start();
    open_file(&file, "d/out");
    CU_ASSERT_EQUAL(symlink("../victim/trace", "d/out"), 0);
    CU_ASSERT_EQUAL(output_file_commit(&file, &error), STEP_STATUS_IO);
    check_victim();
    CU_ASSERT_EQUAL(count_names("d/*", NULL), 1);

    start(); /* another command of the same user's: the last one wins */
    open_file(&file, "d/out");
    write_text("d/out", "other");
    CU_ASSERT_EQUAL(output_file_commit(&file, &error), STEP_STATUS_OK);
    CU_ASSERT(has_text("d/out", "new"));
}

static void test_directory_moved(void)
{
    struct output_file file;
    struct step_error error;
    start();
    open_file(&file, "d/trace");
    CU_ASSERT_EQUAL(rename("d", "away"), 0);
    CU_ASSERT_EQUAL(symlink("victim", "d"), 0);
    CU_ASSERT_EQUAL(output_file_commit(&file, &error), STEP_STATUS_OK);
    CU_ASSERT(has_text("away/trace", "new"));
    check_victim();
}

static void test_links(void)
{
    struct output_file file;
    struct step_error error;
    start();
    CU_ASSERT_EQUAL(symlink("../victim/trace", "d/own"), 0);
    open_file(&file, "d/own");
    CU_ASSERT_EQUAL(output_file_commit(&file, &error), STEP_STATUS_OK);
    CU_ASSERT(has_text("victim/trace", "new")); /* the caller's own link is followed */
    CU_ASSERT_EQUAL(symlink("nowhere", "d/dangling"), 0);
    CU_ASSERT_EQUAL(open_fails("d/dangling", false), STEP_STATUS_IO);
    CU_ASSERT_EQUAL(symlink("loop", "d/loop"), 0);
    CU_ASSERT_EQUAL(open_fails("d/loop", false), STEP_STATUS_IO);
    start();
    CU_ASSERT_EQUAL(symlink("../victim/trace", "d/theirs"), 0);
    if (geteuid() != 0 || lchown("d/theirs", OTHER_USER, OTHER_USER) != 0)
        return;
    CU_ASSERT_EQUAL(open_fails("d/theirs", false), STEP_STATUS_IO);
    CU_ASSERT_EQUAL(mkfifo("d/fifo", 0666), 0);
    CU_ASSERT_EQUAL(chown("d/fifo", OTHER_USER, OTHER_USER), 0);
    CU_ASSERT_EQUAL(open_fails("d/fifo", false), STEP_STATUS_IO); /* and is not waited for */
    check_victim();
    write_text("d/planted", "old");
    CU_ASSERT_EQUAL(chown("d/planted", OTHER_USER, OTHER_USER), 0);
    CU_ASSERT(opens("d/planted"));
    CU_ASSERT_EQUAL(chmod("d", 01777), 0);
    CU_ASSERT_EQUAL(open_fails("d/planted", false), STEP_STATUS_IO);
    CU_ASSERT(has_text("d/planted", "old"));
    CU_ASSERT_EQUAL(chown("d", OTHER_USER, OTHER_USER), 0);
    CU_ASSERT(opens("d/planted"));
    CU_ASSERT_EQUAL(chown("d", 0, 0), 0);
}

static enum step_status append_to(const char *path)
{
    struct step_error error;
    return output_file_append(path, "+", 1, &error);
}

static void test_append(void)
{
    start();
    CU_ASSERT_EQUAL(append_to("d/new"), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(append_to("d/new"), STEP_STATUS_OK);
    CU_ASSERT(has_text("d/new", "++"));
    CU_ASSERT_EQUAL(symlink("../victim/trace", "d/link"), 0);
    CU_ASSERT_EQUAL(append_to("d/link"), STEP_STATUS_IO);
    CU_ASSERT_EQUAL(chmod("d", 0777), 0);
    CU_ASSERT_EQUAL(append_to("d/new"), STEP_STATUS_OK);
    write_text("d/planted", "old");
    if (geteuid() != 0 || chown("d/planted", OTHER_USER, OTHER_USER) != 0)
        return;
    CU_ASSERT_EQUAL(append_to("d/planted"), STEP_STATUS_IO);
    CU_ASSERT(has_text("d/planted", "old"));
    CU_ASSERT_EQUAL(chmod("d", 0755), 0);
    CU_ASSERT_EQUAL(append_to("d/planted"), STEP_STATUS_OK);
    check_victim();
}

static void test_own_names(void)
{
    struct output_file file;
    struct step_error error;
    start();
    CU_ASSERT_EQUAL(symlink("../victim/trace", "d/link"), 0);
    CU_ASSERT_EQUAL(mkfifo("d/fifo", 0666), 0);
    CU_ASSERT_EQUAL(mkdir("d/directory", 0777), 0);
    CU_ASSERT_EQUAL(open_fails("d/link", true), STEP_STATUS_IO);
    CU_ASSERT_EQUAL(open_fails("d/fifo", true), STEP_STATUS_IO);
    CU_ASSERT_EQUAL(open_fails("d/directory", true), STEP_STATUS_IO);
    check_victim();
    write_text("d/page", "old");
    CU_ASSERT_EQUAL_FATAL(output_file_open_own(&file, "d/page", &error), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(output_file_commit(&file, &error), STEP_STATUS_OK);
    CU_ASSERT(has_text("d/page", ""));
    if (geteuid() != 0 || chown("d/page", OTHER_USER, OTHER_USER) != 0)
        return;
    CU_ASSERT_EQUAL(open_fails("d/page", true), STEP_STATUS_IO);
}

static void test_below(void)
{
    struct output_file file;
    struct step_error error;
    start();
    CU_ASSERT_EQUAL_FATAL(output_file_open_below(&file, "d", "a=1/b=2/trace", "d", &error),
                          STEP_STATUS_OK);
    CU_ASSERT_EQUAL(output_file_commit(&file, &error), STEP_STATUS_OK);
    CU_ASSERT(has_text("d/a=1/b=2/trace", ""));
    CU_ASSERT(output_file_remove_below("d", "a=1/b=2/trace"));
    CU_ASSERT_EQUAL(rmdir("d/a=1/b=2"), 0);
    CU_ASSERT_EQUAL(symlink("../../victim", "d/a=1/b=2"), 0);
    CU_ASSERT_EQUAL(output_file_open_below(&file, "d", "a=1/b=2/trace", "d", &error),
                    STEP_STATUS_IO);
    CU_ASSERT(!output_file_remove_below("d", "a=1/b=2/trace"));
    check_victim();
}

/* ---- directories ---- */

static bool is_own(int directory, const char *name)
{
    (void) directory;
    return strcmp(name, "trace") == 0;
}

static void open_directory(struct output_directory *directory)
{
    struct step_error error;
    CU_ASSERT_EQUAL_FATAL(output_directory_open(directory, "d/out", is_own, &error),
                          STEP_STATUS_OK);
    struct output_file file;
    CU_ASSERT_EQUAL_FATAL(
        output_file_open_in(&file, directory->descriptor, "trace", "d/out", &error),
        STEP_STATUS_OK);
    CU_ASSERT_EQUAL(output_file_write(&file, "new", 3, &error), STEP_STATUS_OK);
    CU_ASSERT_EQUAL(output_file_commit(&file, &error), STEP_STATUS_OK);
}

/* An output of an earlier run. */
static void put_earlier(void)
{
    CU_ASSERT_EQUAL(mkdir("d/out", 0777), 0);
    write_text("d/out/trace", "old");
}

static void test_directory(void)
{
    struct output_directory directory;
    struct step_error error;
    for (int earlier = 0; earlier < 2; earlier++) {
        start();
        if (earlier)
            put_earlier();
        open_directory(&directory);
        output_directory_abort(&directory);
        CU_ASSERT_EQUAL(count_names("d/*", NULL), (size_t) earlier);
        open_directory(&directory);
        CU_ASSERT_EQUAL(output_directory_commit(&directory, &error), STEP_STATUS_OK);
        output_directory_abort(&directory);
        CU_ASSERT(has_text("d/out/trace", "new"));
        CU_ASSERT_EQUAL(count_names("d/*", NULL), 1);
    }
}

static void test_directory_taken(void)
{
    struct output_directory directory;
    struct step_error error;
    for (int earlier = 0; earlier < 2; earlier++) {
        start();
        if (earlier)
            put_earlier();
        open_directory(&directory);
        if (earlier)
            CU_ASSERT_EQUAL(rename("d/out", "away"), 0);
        CU_ASSERT_EQUAL(symlink("../victim", "d/out"), 0);
        CU_ASSERT_EQUAL(output_directory_commit(&directory, &error), STEP_STATUS_IO);
        output_directory_abort(&directory);
        check_victim();
        CU_ASSERT_EQUAL(count_names("d/*", NULL), 1);
        CU_ASSERT(!earlier || has_text("away/trace", "old"));
    }
}

static void test_temporary_directory_taken(void)
{
    struct output_directory directory;
    struct step_error error;
    char temporary[256];
    start();
    put_earlier();
    open_directory(&directory);
    CU_ASSERT_EQUAL_FATAL(count_names("d/out.??????", temporary), 1);
    CU_ASSERT_EQUAL(rename(temporary, "away"), 0);
    CU_ASSERT_EQUAL(symlink("../victim", temporary), 0);
    CU_ASSERT_EQUAL(output_directory_commit(&directory, &error), STEP_STATUS_IO);
    output_directory_abort(&directory);
    check_victim();
    CU_ASSERT(has_text("d/out/trace", "old"));
    CU_ASSERT_EQUAL(count_names("away/*", NULL), 0); /* what was written is removed all the same */
}

/* ---- signals ---- */

static int end_of(void (*run)(void))
{
    int end;
    pid_t child = fork();
    if (child == 0) {
        output_signals_catch();
        run();
        _exit(0);
    }
    CU_ASSERT_FATAL(child > 0);
    CU_ASSERT_EQUAL(waitpid(child, &end, 0), child);
    return end;
}

/* Both temporary names lead to the victim when the signal comes. */
static void be_terminated(void)
{
    struct output_directory directory;
    struct output_file file;
    char temporary[256];
    open_file(&file, "d/file");
    open_directory(&directory);
    if (count_names("d/out.??????", temporary) != 1 || rename(temporary, "away") != 0 ||
        symlink("../victim", temporary) != 0)
        _exit(1);
    raise(SIGTERM);
}

/* Messages may go to a pipe that nobody reads any more. */
static void lose_reader(void)
{
    struct output_file file;
    int ends[2];
    signal(SIGPIPE, SIG_DFL);
    output_signals_catch();
    open_file(&file, "d/file");
    if (pipe(ends) != 0 || close(ends[0]) != 0)
        _exit(1);
    (void) !write(ends[1], "", 1);
}

static void test_reader_gone(void)
{
    start();
    int end = end_of(lose_reader);
    CU_ASSERT(WIFSIGNALED(end) && WTERMSIG(end) == SIGPIPE);
    CU_ASSERT_EQUAL(count_names("d/file*", NULL), 0);
}

static void test_terminated(void)
{
    start();
    int end = end_of(be_terminated);
    CU_ASSERT(WIFSIGNALED(end) && WTERMSIG(end) == SIGTERM);
    CU_ASSERT_EQUAL(count_names("d/file*", NULL), 0);
    CU_ASSERT_EQUAL(count_names("d/out.??????", NULL), 1); /* the link */
    CU_ASSERT_EQUAL(count_names("away/*", NULL), 0);
    check_victim();
}

static void write_beyond_limit(void)
{
    struct output_file file;
    struct step_error error = {.offset = STEP_NO_OFFSET};
    char bytes[8192] = "";
    const struct rlimit limit = {4096, 4096};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0 ||
        output_file_open(&file, "d/large", &error) != STEP_STATUS_OK)
        _exit(1);
    enum step_status status = output_file_write(&file, bytes, sizeof bytes, &error);
    status = output_file_end(&file, status, &error);
    _exit(status == STEP_STATUS_IO && strstr(error.message, "File too large") != NULL ? 7 : 2);
}

static void test_file_size_limit(void)
{
    start();
    int end = end_of(write_beyond_limit);
    CU_ASSERT(WIFEXITED(end) && WEXITSTATUS(end) == 7);
    CU_ASSERT_EQUAL(count_names("d/*", NULL), 0);
}

static int make_top(void)
{
    return mkdtemp(top) != NULL ? 0 : 1;
}

static int remove_top(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", top);
    return chdir("/") != 0 || system(command) != 0;
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("outputs", make_top, remove_top);
    CU_add_test(suite, "a file", test_file);
    CU_add_test(suite, "its temporary name is taken", test_temporary_name_taken);
    CU_add_test(suite, "its name is taken", test_name_taken);
    CU_add_test(suite, "its directory is moved", test_directory_moved);
    CU_add_test(suite, "links that are there", test_links);
    CU_add_test(suite, "appending", test_append);
    CU_add_test(suite, "names that the user did not give", test_own_names);
    CU_add_test(suite, "below a directory", test_below);
    CU_add_test(suite, "a directory", test_directory);
    CU_add_test(suite, "its name is taken", test_directory_taken);
    CU_add_test(suite, "its temporary name is taken", test_temporary_directory_taken);
    CU_add_test(suite, "a signal removes what was made", test_terminated);
    CU_add_test(suite, "a message that nobody reads removes what was made", test_reader_gone);
    CU_add_test(suite, "a limit of file sizes", test_file_size_limit);
}
