/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace record-malloc: runs a native program with the recorder preloaded. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "converter/cli/verb.h"
#include "converter/recorders/elf_program.h"
#include "converter/recorders/recorded_traces.h"
#include "converter/recorders/recording.h"

VERB(record_malloc);

#define TEXT_MAX ((size_t) 8192)
#define STEP_ENDING ".step"

static const struct verb_help help = {
    "record-malloc", "[OPTION]... [--] PROGRAM ARGUMENT...",
    "Runs a native program and records each malloc, calloc, realloc, free and thread, and\n"
    "new and delete of C++. OUT is a STEP trace or, by its ending, any format of convert.\n"
    "With %p (the process id) in OUT, every process that the program starts writes a\n"
    "trace, and a list of them is written; without %p only the program itself is\n"
    "recorded. After exec, the new program writes its own trace, OUT-2. The exit status\n"
    "is that of the program. Statically linked programs, programs with special\n"
    "privileges, with a malloc of their own or with a sanitizer cannot be recorded.\n"};

struct recording {
    const char *output;
    const char *library;
    struct recording_options options;
    char step_path[PATH_MAX]; /* absolute, with % sequences: the recorder's output */
    struct recorded_traces traces;
};

static enum step_status record_malloc_fail(const char *what, const char *why)
{
    return command_fail(help.name, what, why);
}

static bool refuse_process(void *unused, const char *value, const char **fault)
{
    (void) unused;
    (void) value;
    *fault = "a running process cannot be recorded: its earlier blocks are unknown, and calls "
             "through saved addresses would be missing; start the program with record-malloc, or a "
             "service with LD_PRELOAD and STEPTRACE_MALLOC";
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
    char directory[PATH_MAX] = "", escaped[2 * PATH_MAX];
    if (recording->output[0] != '/' && getcwd(directory, sizeof directory) == NULL)
        return false;
    escape_percents(directory, escaped);
    recording->traces.step_path = recording->step_path;
    recording->traces.is_converted = !ends_with(recording->output, STEP_ENDING);
    int length = snprintf(recording->step_path, sizeof recording->step_path, "%s%s%s%s", escaped,
                          directory[0] != '\0' ? "/" : "", recording->output,
                          recording->traces.is_converted ? STEP_ENDING : "");
    return length > 0 && (size_t) length < sizeof recording->step_path &&
           strchr(recording->step_path, ',') == NULL;
}

/* ---- the program ---- */

static bool set_environment(const void *user)
{
    const struct recording *recording = user;
    char options[TEXT_MAX + PATH_MAX + 16], preload[2 * TEXT_MAX], process[32];
    const char *before = getenv("LD_PRELOAD");
    snprintf(options, sizeof options, "file=%s%s", recording->step_path, recording->options.text);
    snprintf(preload, sizeof preload, "%s%s%s", recording->library,
             before != NULL && before[0] != '\0' ? ":" : "", before != NULL ? before : "");
    snprintf(process, sizeof process, "%ld", (long) getpid());
    return setenv("STEPTRACE_MALLOC", options, 1) == 0 &&
           setenv("STEPTRACE_MALLOC_PROCESS", process, 1) == 0 &&
           setenv("LD_PRELOAD", preload, 1) == 0;
}

/* ---- reasons why nothing was recorded ---- */

/* Programs that change their user are started without the variables that name libraries. */
static bool has_special_rights(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && ((status.st_mode & (S_ISUID | S_ISGID)) != 0 ||
                                        getxattr(path, "security.capability", NULL, 0) > 0);
}

static bool find_program(const char *command, char *path)
{
    char found[PATH_MAX];
    return command_find(command, found, sizeof found) && realpath(found, path) != NULL;
}

/* Returns false, after reporting why, if it is known before the program runs that no call of it
 * would be recorded. */
static bool can_be_recorded(const char *command)
{
    char path[PATH_MAX];
    enum elf_allocator allocator =
        find_program(command, path) ? elf_allocator_find(path) : ELF_ALLOCATOR_OTHER;
    if (allocator == ELF_ALLOCATOR_SANITIZER)
        record_malloc_fail(
            path, "is built with a sanitizer (-fsanitize=address, thread, memory or hwaddress), "
                  "and no recorder works beside one: build it without");
    if (allocator == ELF_ALLOCATOR_OWN)
        record_malloc_fail(path, "has a malloc() of its own, which no recorder gets in front of");
    return allocator == ELF_ALLOCATOR_OTHER;
}

/* A program that failed keeps its exit status. */
static enum step_status fail_without_trace(const char *command)
{
    char path[PATH_MAX], reason[128] = "left no trace";
    struct elf_kind kind;
    bool is_known = find_program(command, path);
    if (command_signal() != 0)
        snprintf(reason, sizeof reason, "left no trace: it was ended by signal %d (%s)",
                 command_signal(), strsignal(command_signal()));
    if (is_known && has_special_rights(path))
        record_malloc_fail(path,
                           "left no trace: it has special rights (set-user-id, set-group-id or "
                           "capabilities), and the system ignores LD_PRELOAD for it");
    else if (is_known && elf_kind_read(path, &kind) && kind.is_static)
        record_malloc_fail(
            path, "left no trace: it is linked statically, so that LD_PRELOAD has no effect");
    else
        record_malloc_fail(command, reason);
    return verb_exit_code != 0 ? STEP_STATUS_OK : STEP_STATUS_IO;
}

static enum step_status record_malloc_program(struct recording *recording,
                                              const struct arguments *arguments)
{
    char library[PATH_MAX];
    char **command = (char **) arguments->operands;
    if (strcmp(recording->output, "-") == 0)
        return arguments_fault(arguments, "-o -: a trace that is recorded needs a file");
    if (recording_check_place(arguments, recording->output) != STEP_STATUS_OK)
        return STEP_STATUS_INVALID;
    if (!make_step_path(recording))
        return arguments_fault(arguments, "-o %s: the recorder accepts no comma in a file name",
                               recording->output);
    if (!component_find("libmalloctracer.so", "../malloc-recorder", recording->library,
                        "STEPTRACE_MALLOC_LIBRARY", library))
        return record_malloc_fail(
            "libmalloctracer.so",
            "cannot be found; --library=PATH or STEPTRACE_MALLOC_LIBRARY names it");
    if (strpbrk(library, ": ") != NULL)
        return record_malloc_fail(library, "LD_PRELOAD accepts no colons or spaces in a path");
    if (!can_be_recorded(command[0]))
        return STEP_STATUS_IO;
    recording->library = library;
    recording->traces.overwrite = recording_overwrites(&recording->options);
    recording->traces.mode = recording_mode(&recording->options);
    clock_gettime(CLOCK_REALTIME_COARSE, &recording->traces.start);
    enum step_status status =
        command_run(help.name, command, set_environment, recording, &recording->traces.process);
    unsigned count = 0;
    if (status == STEP_STATUS_OK)
        status = recorded_traces_finish(&recording->traces, &count);
    if (status == STEP_STATUS_OK && count == 0)
        return fail_without_trace(command[0]);
    /* A program that failed keeps its exit status also where its trace is incomplete. */
    return status == STEP_STATUS_CORRUPT && verb_exit_code != 0 ? STEP_STATUS_OK : status;
}

enum step_status verb_record_malloc(int argc, char **argv)
{
    struct recording recording = {.output = "run.step"};
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
    struct arguments arguments = ARGUMENTS_OF(help, rows);
    arguments.stop_at_operand = true;
    if (!arguments_read(&arguments, argc, argv, 1, SIZE_MAX))
        return arguments.status;
    return record_malloc_program(&recording, &arguments);
}
