/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace record: runs a command with the agent in its JVM. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "converter/base/output_file.h"
#include "converter/verbs/recording.h"
#include "converter/verbs/verb.h"

static const char *machine_name(const struct elf_kind *kind)
{
    static const struct {
        Elf64_Half machine;
        const char *name;
    } names[] = {{EM_X86_64, "x86-64"},  {EM_AARCH64, "AArch64"}, {EM_386, "32-bit x86"},
                 {EM_ARM, "32-bit ARM"}, {EM_RISCV, "RISC-V"},    {EM_PPC64, "POWER"},
                 {EM_S390, "s390"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].machine == kind->machine)
            return names[i].name;
    return "another machine";
}

/* Returns false, with a `reason`, if the library cannot be loaded into the command: a path, or
 * found in PATH; a script counts as this program.  Returns true if that is unknown. */
static bool elf_kinds_fit(const char *library, const char *command, char *reason, size_t size)
{
    char path[PATH_MAX];
    struct elf_kind of_library, of_program;
    if (!elf_kind_read(library, &of_library))
        return true; /* its loader will report it */
    if ((!command_find(command, path, sizeof path) || !elf_kind_read(path, &of_program)) &&
        !elf_kind_read("/proc/self/exe", &of_program))
        return true;
    if (of_library.class != of_program.class || of_library.order != of_program.order ||
        of_library.machine != of_program.machine) {
        snprintf(reason, size, "it is for %s, %s for %s: take the one of that machine",
                 machine_name(&of_library), command, machine_name(&of_program));
        return false;
    }
#ifdef __GLIBC__
    if (of_program.is_musl) {
        snprintf(reason, size, "it is for glibc, %s for musl: take a JDK for glibc", command);
        return false;
    }
#endif
    return true;
}

#define TEXT_MAX ((size_t) 8192)
#define TOOL_OPTIONS "JAVA_TOOL_OPTIONS"

static const struct verb_help help = {
    "record", "[OPTION]... [--] java ARGUMENT...",
    "Runs a Java program and records its trace. If the command is not java itself but\n"
    "starts it (mvn, a script), each JVM that it starts writes its own trace, with the\n"
    "process id in the name. In OUT, %p, %t and %h stand for process id, time and host.\n"
    "`steptrace record -O help java` lists the options of the agent (-O).\n"};

/* A text of bounded length that remembers overflow. */
struct text {
    char bytes[TEXT_MAX];
    size_t length;
    bool is_full;
};

struct recording {
    const char *output;
    const char *agent;
    bool report, summary; /* write report pages at the end */
    struct recording_options options;
};

static void append(struct text *text, const char *bytes, size_t length)
{
    if (length >= TEXT_MAX - text->length) {
        text->is_full = true;
        return;
    }
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

static void append_text(struct text *text, const char *more)
{
    append(text, more, strlen(more));
}

static bool take_engine(void *options_target, const char *value, const char **fault)
{
    char pair[64];
    snprintf(pair, sizeof pair, "engine=%s", value);
    bool taken = value[0] != '\0' && strlen(value) < 32 && strchr(value, ',') == NULL &&
                 recording_take_pair(options_target, pair, fault);
    *fault = "bytecode or jvmti is expected";
    return taken;
}

/* ---- the command ---- */

enum launcher { LAUNCHER_JAVA, LAUNCHER_TOOL, LAUNCHER_OTHER };

static enum launcher launcher_of(const char *command)
{
    static const char *const tools[] = {"javac", "javadoc", "jar", "jlink", "jdeps", "jshell"};
    const char *slash = strrchr(command, '/');
    const char *name = slash != NULL ? slash + 1 : command;
    if (strcmp(name, "java") == 0)
        return LAUNCHER_JAVA;
    for (size_t i = 0; i < sizeof tools / sizeof tools[0]; i++)
        if (strcmp(name, tools[i]) == 0)
            return LAUNCHER_TOOL;
    return LAUNCHER_OTHER;
}

/* JVMs started by other programs may run in any directory, and there may be several. */
static void append_shared_name(struct text *text, const char *output)
{
    char directory[PATH_MAX];
    if (output[0] != '/' && getcwd(directory, sizeof directory) != NULL) {
        for (const char *at = directory; *at != '\0'; at++)
            append_text(text, *at == '%' ? "%%" : (const char[]){*at, '\0'});
        append_text(text, "/");
    }
    const char *slash = strrchr(output, '/');
    const char *ending = strrchr(slash != NULL ? slash : output, '.');
    size_t stem = ending != NULL ? (size_t) (ending - output) : strlen(output);
    append(text, output, stem);
    if (strstr(output, "%p") == NULL)
        append_text(text, "-%p");
    append_text(text, output + stem);
}

static void append_name(struct text *text, const struct recording *recording,
                        enum launcher launcher)
{
    if (launcher == LAUNCHER_OTHER)
        append_shared_name(text, recording->output);
    else
        append_text(text, recording->output);
}

static void append_agent(struct text *text, const struct recording *recording, const char *agent,
                         enum launcher launcher)
{
    append_text(text, launcher == LAUNCHER_TOOL ? "-J-agentpath:" : "-agentpath:");
    append_text(text, agent);
    append_text(text, "=file=");
    append_name(text, recording, launcher);
    append_text(text, recording->report || recording->summary ? RECORDING_REPORT_STACK : "");
    append_text(text, recording->options.text);
}

/* Makes JVMs that the command starts load the agent. */
static bool set_tool_options(const char *agent)
{
    const char *before = getenv(TOOL_OPTIONS);
    struct text value = {.length = 0};
    bool has_spaces = strpbrk(agent, " \t") != NULL;
    append_text(&value, has_spaces ? "\"" : "");
    append_text(&value, agent);
    append_text(&value, has_spaces ? "\"" : "");
    if (before != NULL && before[0] != '\0') {
        append_text(&value, " ");
        append_text(&value, before);
    }
    return !value.is_full && setenv(TOOL_OPTIONS, value.bytes, 1) == 0;
}

static enum step_status fail(const char *what, const char *why)
{
    return command_fail(help.name, what, why);
}

/* Runs the command in place of this program or, if `process` is not NULL, in a child, and waits for
 * it.  Without an agent (NULL) it is not traced. */
static enum step_status start(char *agent, enum launcher launcher, char **command, size_t count,
                              pid_t *process)
{
    char **words = calloc(count + 2, sizeof *words);
    if (words == NULL)
        return fail(command[0], "out of memory");
    size_t used = 0;
    words[used++] = command[0];
    if (agent != NULL && launcher != LAUNCHER_OTHER)
        words[used++] = agent;
    for (size_t i = 1; i < count; i++)
        words[used++] = command[i];
    enum step_status status = STEP_STATUS_OK;
    if (agent != NULL && launcher == LAUNCHER_OTHER && !set_tool_options(agent))
        status = fail(TOOL_OPTIONS, "the value is too long");
    if (status == STEP_STATUS_OK && process != NULL) {
        status = command_run(help.name, words, false, NULL, NULL, process);
        output_file_catch_signals();
    } else if (status == STEP_STATUS_OK) {
        fflush(NULL);
        execvp(words[0], words);
        status = fail(command[0], strerror(errno));
    }
    free(words);
    return status;
}

static enum step_status record(const struct recording *recording, const struct arguments *arguments)
{
    char agent[PATH_MAX];
    static struct text option;
    char **command = (char **) arguments->operands;
    enum launcher launcher = launcher_of(command[0]);
    if (strchr(recording->output, ',') != NULL)
        return arguments_fault(arguments, "-o %s: the agent takes no comma in a file name",
                               recording->output);
    if (strcmp(recording->output, "-") == 0)
        return arguments_fault(arguments, "-o -: a trace that is recorded needs a file");
    if (!component_find("libtracer.so", "../agent", recording->agent, "STEPTRACE_AGENT", agent))
        return fail("libtracer.so", "cannot be found; --agent=PATH or STEPTRACE_AGENT names it");
    char reason[256];
    if (!elf_kinds_fit(agent, command[0], reason, sizeof reason)) {
        bool is_required = recording_has_pair(&recording->options, "required=yes");
        fprintf(stderr, "steptrace record: %s: %s%s\n", agent, reason,
                is_required ? "" : "; the program runs untraced");
        return is_required ? STEP_STATUS_IO
                           : start(NULL, launcher, command, arguments->operand_count, NULL);
    }
    if (strchr(agent, '=') != NULL)
        return fail(agent, "the JVM takes no `=` in the path of an agent");
    append_agent(&option, recording, agent, launcher);
    if (option.is_full)
        return arguments_fault(arguments, "the options are too long; use -O options=FILE");
    struct timespec begun;
    pid_t process = 0;
    clock_gettime(CLOCK_REALTIME_COARSE, &begun);
    enum step_status status = start(option.bytes, launcher, command, arguments->operand_count,
                                    recording->report || recording->summary ? &process : NULL);
    static struct text name;
    append_name(&name, recording, launcher);
    if (launcher == LAUNCHER_OTHER)
        process = 0;
    if (status == STEP_STATUS_OK && recording->summary)
        status = traces_since(name.bytes, &begun, process, summary_of);
    if (status == STEP_STATUS_OK && recording->report)
        status = traces_since(name.bytes, &begun, process, report_of);
    return status;
}

enum step_status verb_record(int argc, char **argv)
{
    static struct recording recording = {.output = "run.step"};
    const struct option_row rows[] = {
        {"output", 'o', "OUT", "the trace (run.step)", take_text, &recording.output},
        {"file", 'f', "OUT", "the same", take_text, &recording.output},
        {"report", 0, NULL, "write OUT.html at the end; implies --stack=16", take_flag,
         &recording.report},
        {"summary", 0, NULL, "print the largest sites on stderr at the end; implies --stack=16",
         take_flag, &recording.summary},
        {"events", 'e', "LIST", "events to record: class, alloc, free, thread, method, or all",
         recording_take_events, &recording.options},
        {"stack", 0, "N", "record call stacks of allocations, N frames at most (0)",
         recording_take_stack, &recording.options},
        {"engine", 0, "NAME", "observe the JVM by: bytecode (instrumentation) or jvmti",
         take_engine, &recording.options},
        {"option", 'O', "KEY=VALUE", "set any option of the agent", recording_take_pair,
         &recording.options},
        {"mode", 0, "MODE", "permissions of the trace, octal (600)", recording_take_mode,
         &recording.options},
        {"agent", 0, "PATH", "the agent, libtracer.so", take_text, &recording.agent},
    };
    struct arguments arguments = ARGUMENTS_OF(help, rows);
    arguments.stop_at_operand = true;
    if (!arguments_read(&arguments, argc, argv, 1, SIZE_MAX))
        return arguments.status;
    return record(&recording, &arguments);
}
