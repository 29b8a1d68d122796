/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace record-malloc: runs a native program with the recorder in it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "converter/base/component.h"
#include "converter/verbs/verb.h"
#include "steptrace/live.h"

#define TEXT_MAX ((size_t) 8192)
#define STEP_ENDING ".step"
#define COMMAND_NOT_STARTED 127

static const struct verb_help help = {
    "record-malloc", "[OPTION]... [--] PROGRAM ARGUMENT...",
    "Runs a program and records each malloc, calloc, realloc, free and thread of it (C++ new\n"
    "and delete too). OUT is a STEP trace or, by its ending, any format that convert knows.\n"
    "With %p (the process id) in OUT every process that it starts gets a trace; without it\n"
    "only the first is recorded. The exit code is the program's. Programs that are linked\n"
    "statically, or have special rights, cannot be recorded.\n"};

struct recording {
    const char *output;
    const char *library;
    const char *encoding;     /* for convert */
    char options[TEXT_MAX];   /* more for the recorder */
    char step_path[PATH_MAX]; /* absolute, with % sequences: what the recorder writes */
    bool is_converted;
    struct timespec start;
};

static enum step_status fail(const char *what, const char *why)
{
    fprintf(stderr, "steptrace record-malloc: %s: %s\n", what, why);
    return STEP_STATUS_IO;
}

static bool take_pair(void *text_target, const char *value, const char **fault)
{
    char *text = text_target;
    size_t used = strlen(text);
    *fault = "key=value is expected, at most 8000 bytes in all";
    if (value[0] == '\0' || value[0] == '=' || strlen(value) + used + 2 > TEXT_MAX)
        return false;
    snprintf(text + used, TEXT_MAX - used, ",%s", value);
    return true;
}

/* ---- names ---- */

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), end = strlen(ending);
    return length >= end && strcmp(text + length - end, ending) == 0;
}

/* The program may change its directory before the recorder opens a file. */
static bool make_step_path(struct recording *recording)
{
    char directory[PATH_MAX] = "", escaped[2 * PATH_MAX] = "";
    if (recording->output[0] != '/' && getcwd(directory, sizeof directory) == NULL)
        return false;
    size_t used = 0;
    for (const char *at = directory; *at != '\0'; at++) {
        if (*at == '%')
            escaped[used++] = '%';
        escaped[used++] = *at;
    }
    recording->is_converted = !ends_with(recording->output, STEP_ENDING);
    int length = snprintf(recording->step_path, sizeof recording->step_path, "%s%s%s%s", escaped,
                          directory[0] != '\0' ? "/" : "", recording->output,
                          recording->is_converted ? STEP_ENDING : "");
    return length > 0 && (size_t) length < sizeof recording->step_path &&
           strchr(recording->step_path, ',') == NULL;
}

/* ---- the program ---- */

static bool set_environment(const struct recording *recording, const char *library)
{
    char options[TEXT_MAX + PATH_MAX + 16], preload[2 * TEXT_MAX], process[32];
    const char *before = getenv("LD_PRELOAD");
    snprintf(options, sizeof options, "file=%s%s", recording->step_path, recording->options);
    snprintf(preload, sizeof preload, "%s%s%s", library,
             before != NULL && before[0] != '\0' ? ":" : "", before != NULL ? before : "");
    snprintf(process, sizeof process, "%ld", (long) getpid());
    return setenv("STEPTRACE_MALLOC", options, 1) == 0 &&
           setenv("STEPTRACE_MALLOC_PROCESS", process, 1) == 0 &&
           setenv("LD_PRELOAD", preload, 1) == 0;
}

/* Tells the parent why the program could not be started. */
static void run_child(const struct recording *recording, const char *library, char **command,
                      int report)
{
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    if (set_environment(recording, library))
        execvp(command[0], command);
    int code = errno;
    ssize_t ignored = write(report, &code, sizeof code);
    (void) ignored;
    _exit(COMMAND_NOT_STARTED);
}

static volatile sig_atomic_t child_process;

static void pass_on(int number)
{
    if (child_process > 0)
        kill((pid_t) child_process, number);
}

static void wait_for(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    child_process = 0;
    verb_exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Runs the command to its end; a keyboard's signals are for the program alone. */
static enum step_status run(const struct recording *recording, const char *library, char **command)
{
    int report[2], code = 0;
    if (pipe2(report, O_CLOEXEC) != 0)
        return fail(command[0], strerror(errno));
    fflush(NULL);
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    pid_t child = fork();
    if (child == 0)
        run_child(recording, library, command, report[1]);
    child_process = (sig_atomic_t) child;
    signal(SIGTERM, pass_on);
    signal(SIGHUP, pass_on);
    close(report[1]);
    if (child < 0)
        code = errno;
    else if (read(report[0], &code, sizeof code) != sizeof code)
        code = 0;
    close(report[0]);
    if (child > 0)
        wait_for(child);
    return code == 0 ? STEP_STATUS_OK : fail(command[0], strerror(code));
}

/* ---- what it left ---- */

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* Makes the trace whole where its process was killed or has called exec(), and converts it. */
static enum step_status finish_trace(const struct recording *recording, const char *path)
{
    char live[PATH_MAX + 300], output[PATH_MAX + 260];
    enum step_status status = STEP_STATUS_OK;
    snprintf(live, sizeof live, "%s%s", path, STEP_LIVE_SUFFIX);
    if (exists(live)) {
        char *arguments[] = {(char *) path};
        status = verb_recover(1, arguments);
    }
    if (status != STEP_STATUS_OK || !recording->is_converted)
        return status;
    snprintf(output, sizeof output, "%.*s", (int) (strlen(path) - strlen(STEP_ENDING)), path);
    char encoding[64];
    snprintf(encoding, sizeof encoding, "--encoding=%.48s",
             recording->encoding != NULL ? recording->encoding : "naive");
    char *arguments[] = {(char *) path, "-o", output, encoding};
    status = verb_convert(recording->encoding != NULL ? 4 : 3, arguments);
    if (status == STEP_STATUS_OK)
        unlink(path);
    return status;
}

/* The text with %% as % and without %p; `*marker` is where that stood, SIZE_MAX if nowhere. */
static void split_name(const char *name, char *plain, size_t *marker)
{
    size_t used = 0;
    *marker = SIZE_MAX;
    for (const char *at = name; *at != '\0' && used < PATH_MAX - 1; at++) {
        if (at[0] == '%' && at[1] == 'p' && *marker == SIZE_MAX) {
            *marker = used;
            at++;
            continue;
        }
        if (at[0] == '%' && at[1] == '%')
            at++;
        plain[used++] = *at;
    }
    plain[used] = '\0';
}

/* Is it `plain` with a process id at the marker, and perhaps a number before the ending? */
static bool is_of_recording(const char *name, const char *plain, size_t marker)
{
    size_t ending = strlen(STEP_ENDING), rest = strlen(plain + marker) - ending;
    size_t length = strlen(name);
    if (length < strlen(plain) || strncmp(name, plain, marker) != 0 ||
        strcmp(name + length - ending, STEP_ENDING) != 0)
        return false;
    const char *at = name + marker + strspn(name + marker, "0123456789");
    if (at == name + marker || strncmp(at, plain + marker, rest) != 0)
        return false;
    at += rest;
    if (*at == '-')
        at += 1 + strspn(at + 1, "0123456789");
    return strcmp(at, STEP_ENDING) == 0;
}

static bool is_new(const struct recording *recording, const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && (status.st_mtim.tv_sec > recording->start.tv_sec ||
                                        (status.st_mtim.tv_sec == recording->start.tv_sec &&
                                         status.st_mtim.tv_nsec >= recording->start.tv_nsec));
}

/* The traces of all processes, by their names. */
static enum step_status finish_all(const struct recording *recording, char *plain, size_t marker,
                                   unsigned *count)
{
    enum step_status status = STEP_STATUS_OK;
    char *slash = strrchr(plain, '/');
    size_t directory_length = (size_t) (slash - plain) + 1;
    if (marker < directory_length)
        return STEP_STATUS_OK; /* the process id is in the name of a directory */
    *slash = '\0';
    DIR *directory = opendir(plain[0] != '\0' ? plain : "/");
    struct dirent *entry;
    while (directory != NULL && (entry = readdir(directory)) != NULL) {
        char path[PATH_MAX + 260];
        if (!is_of_recording(entry->d_name, slash + 1, marker - directory_length))
            continue;
        snprintf(path, sizeof path, "%s/%.255s", plain, entry->d_name);
        if (!is_new(recording, path))
            continue;
        ++*count;
        enum step_status one = finish_trace(recording, path);
        status = status == STEP_STATUS_OK ? one : status;
    }
    if (directory != NULL)
        closedir(directory);
    return status;
}

static enum step_status finish(const struct recording *recording, const char *program)
{
    char plain[PATH_MAX];
    size_t marker;
    unsigned count = 0;
    enum step_status status = STEP_STATUS_OK;
    split_name(recording->step_path, plain, &marker);
    if (strstr(plain, "%t") != NULL || strstr(plain, "%h") != NULL)
        return STEP_STATUS_OK; /* only the recorder knows the name */
    if (marker != SIZE_MAX) {
        status = finish_all(recording, plain, marker, &count);
    } else if (exists(plain) && is_new(recording, plain)) {
        count = 1;
        status = finish_trace(recording, plain);
    }
    if (count == 0)
        return fail(program, "left no trace; is it linked statically?");
    return status;
}

static enum step_status record(struct recording *recording, const struct arguments *arguments)
{
    char library[PATH_MAX];
    char **command = (char **) arguments->operands;
    if (strcmp(recording->output, "-") == 0)
        return arguments_fault(arguments, "-o -: a trace that is recorded needs a file");
    if (!make_step_path(recording))
        return arguments_fault(arguments, "-o %s: the recorder takes no comma in a file name",
                               recording->output);
    if (!component_find("libmalloctracer.so", "../malloc-recorder", recording->library,
                        "STEPTRACE_MALLOC_LIBRARY", library))
        return fail("libmalloctracer.so",
                    "cannot be found; --library=PATH or STEPTRACE_MALLOC_LIBRARY names it");
    if (strpbrk(library, ": ") != NULL)
        return fail(library, "LD_PRELOAD takes no colon and no space in a path");
    clock_gettime(CLOCK_REALTIME_COARSE, &recording->start);
    enum step_status status = run(recording, library, command);
    return status == STEP_STATUS_OK ? finish(recording, command[0]) : status;
}

enum step_status verb_record_malloc(int argc, char **argv)
{
    static struct recording recording = {.output = "run.step"};
    const struct option_row rows[] = {
        {"output", 'o', "OUT", "the trace (run.step); %p: process id", take_text,
         &recording.output},
        {"encoding", 0, "NAME", "of HATF, as convert takes it", take_text, &recording.encoding},
        {"option", 'O', "KEY=VALUE", "of the recorder: buffer, overflow, limit, level", take_pair,
         recording.options},
        {"library", 0, "PATH", "the recorder, libmalloctracer.so", take_text, &recording.library},
    };
    struct arguments arguments = {.help = &help,
                                  .rows = rows,
                                  .row_count = sizeof rows / sizeof rows[0],
                                  .stop_at_operand = true};
    enum step_status status = arguments_parse(&arguments, argc, argv);
    if (status != STEP_STATUS_OK || arguments.help_wanted)
        return status;
    status = arguments_expect(&arguments, 1, SIZE_MAX);
    return status == STEP_STATUS_OK ? record(&recording, &arguments) : status;
}
