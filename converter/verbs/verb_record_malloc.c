/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace record-malloc: runs a native program with the recorder preloaded. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "converter/verbs/component.h"
#include "converter/verbs/recorded_traces.h"
#include "converter/verbs/recording_options.h"
#include "converter/verbs/verb.h"

#define TEXT_MAX ((size_t) 8192)
#define STEP_ENDING ".step"
#define COMMAND_NOT_STARTED 127

static const struct verb_help help = {
    "record-malloc", "[OPTION]... [--] PROGRAM ARGUMENT...",
    "Runs a native program and records each malloc, calloc, realloc, free and thread, and\n"
    "new and delete of C++. OUT is a STEP trace or, by its ending, any format of convert.\n"
    "With %p (the process id) in OUT, every process that the program starts writes a\n"
    "trace, and a list of them is written; without %p only the program itself is\n"
    "recorded. After exec, the new program writes its own trace, OUT-2. The exit status\n"
    "is that of the program. Statically linked programs and programs with special\n"
    "privileges cannot be recorded.\n"};

struct recording {
    const char *output;
    const char *library;
    struct recording_options options;
    char step_path[PATH_MAX]; /* absolute, with % sequences: the recorder's output */
    struct recorded_traces traces;
};

static enum step_status fail(const char *what, const char *why)
{
    fprintf(stderr, "steptrace record-malloc: %s: %s\n", what, why);
    return STEP_STATUS_IO;
}

static bool refuse_process(void *unused, const char *value, const char **fault)
{
    (void) unused;
    (void) value;
    *fault = "a process that runs already cannot be recorded: its blocks from before are unknown, "
             "and calls by addresses that it has taken would be missing; start the program with "
             "record-malloc, or a service with LD_PRELOAD and STEPTRACE_MALLOC";
    return false;
}

/* ---- names ---- */

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), end = strlen(ending);
    return length >= end && strcmp(text + length - end, ending) == 0;
}

/* Makes the path absolute: the program may change its directory before the recorder opens the
 * file. */
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
    recording->traces.step_path = recording->step_path;
    recording->traces.is_converted = !ends_with(recording->output, STEP_ENDING);
    int length = snprintf(recording->step_path, sizeof recording->step_path, "%s%s%s%s", escaped,
                          directory[0] != '\0' ? "/" : "", recording->output,
                          recording->traces.is_converted ? STEP_ENDING : "");
    return length > 0 && (size_t) length < sizeof recording->step_path &&
           strchr(recording->step_path, ',') == NULL;
}

/* ---- the program ---- */

static bool set_environment(const struct recording *recording, const char *library)
{
    char options[TEXT_MAX + PATH_MAX + 16], preload[2 * TEXT_MAX], process[32];
    const char *before = getenv("LD_PRELOAD");
    snprintf(options, sizeof options, "file=%s%s", recording->step_path, recording->options.text);
    snprintf(preload, sizeof preload, "%s%s%s", library,
             before != NULL && before[0] != '\0' ? ":" : "", before != NULL ? before : "");
    snprintf(process, sizeof process, "%ld", (long) getpid());
    return setenv("STEPTRACE_MALLOC", options, 1) == 0 &&
           setenv("STEPTRACE_MALLOC_PROCESS", process, 1) == 0 &&
           setenv("LD_PRELOAD", preload, 1) == 0;
}

/* Reports to the parent why the program could not be started. */
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

/* As a container's first process, this is also the parent of all orphans, including drains. */
static void wait_for(pid_t child)
{
    int status = 0;
    pid_t ended;
    do
        ended = waitpid(-1, &status, 0);
    while (ended != child && (ended >= 0 || errno == EINTR));
    child_process = 0;
    verb_exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* Runs the command to its end; the keyboard's signals are for the program alone. */
static enum step_status run(struct recording *recording, const char *library, char **command)
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
    recording->traces.process = child;
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

/* ---- reasons why nothing was recorded ---- */

/* Searches like execvp(). */
static bool find_command(const char *command, char *path)
{
    const char *directories = getenv("PATH");
    if (strchr(command, '/') != NULL)
        return realpath(command, path) != NULL;
    for (const char *at = directories; at != NULL; at = strchr(at, ':')) {
        at += *at == ':';
        char place[2 * PATH_MAX];
        snprintf(place, sizeof place, "%.*s/%s", (int) strcspn(at, ":"), at, command);
        if (access(place, X_OK) == 0 && realpath(place, path) != NULL)
            return true;
    }
    return false;
}

/* Programs that change their user are started without the variables that name libraries. */
static bool has_special_rights(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && ((status.st_mode & (S_ISUID | S_ISGID)) != 0 ||
                                        getxattr(path, "security.capability", NULL, 0) > 0);
}

/* Returns true for an ELF file of this machine that has no dynamic linker. */
static bool is_static(const char *path)
{
    union {
        Elf64_Ehdr header;
        char bytes[4096];
    } start;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, &start, sizeof start) : 0;
    if (file >= 0)
        close(file);
    const Elf64_Ehdr *header = &start.header;
    if (length < (ssize_t) sizeof *header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64)
        return false;
    for (unsigned i = 0; i < header->e_phnum; i++) {
        uint64_t at = header->e_phoff + (uint64_t) i * sizeof(Elf64_Phdr);
        Elf64_Phdr part;
        if (at > (uint64_t) length - sizeof part || (uint64_t) length < sizeof part)
            return false;
        memcpy(&part, start.bytes + at, sizeof part);
        if (part.p_type == PT_INTERP)
            return false;
    }
    return true;
}

static enum step_status fail_without_trace(const char *command)
{
    char path[PATH_MAX];
    if (find_command(command, path) && has_special_rights(path))
        return fail(path, "left no trace: it has special rights (set-user-id, set-group-id or "
                          "capabilities), and the system lets no recorder into such a program");
    if (find_command(command, path) && is_static(path))
        return fail(path, "left no trace: it is linked statically, and no recorder gets into it");
    return fail(command, "left no trace");
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
    recording->traces.overwrite = recording_overwrites(&recording->options);
    recording->traces.mode = recording_mode(&recording->options);
    clock_gettime(CLOCK_REALTIME_COARSE, &recording->traces.start);
    enum step_status status = run(recording, library, command);
    unsigned count = 0;
    if (status == STEP_STATUS_OK)
        status = recorded_traces_finish(&recording->traces, &count);
    return status == STEP_STATUS_OK && count == 0 ? fail_without_trace(command[0]) : status;
}

enum step_status verb_record_malloc(int argc, char **argv)
{
    static struct recording recording = {.output = "run.step"};
    const struct option_row rows[] = {
        {"output", 'o', "OUT", "the trace (run.step); %p: process id", take_text,
         &recording.output},
        {"encoding", 0, "NAME", "encoding of HATF, as for convert", take_text,
         &recording.traces.encoding},
        {"stack", 0, "N", "record call stacks of allocations, N frames at most (0)",
         recording_take_stack, &recording.options},
        {"option", 'O', "KEY=VALUE",
         "set buffer, overflow, limit, level, stack, required, overwrite or mode",
         recording_take_pair, &recording.options},
        {"mode", 0, "MODE", "permissions of the files, octal (600)", recording_take_mode,
         &recording.options},
        {"pid", 'p', "PID", "not supported: a native program is recorded from its start",
         refuse_process, NULL},
        {"library", 0, "PATH", "the recorder, libmalloctracer.so", take_text, &recording.library},
    };
    struct arguments arguments = {.help = &help,
                                  .rows = rows,
                                  .row_count = sizeof rows / sizeof rows[0],
                                  .stop_at_operand = true};
    enum step_status status;
    if (!arguments_read(&arguments, argc, argv, 1, SIZE_MAX, &status))
        return status;
    return record(&recording, &arguments);
}
