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

#include "converter/cli/error_report.h"
#include "converter/cli/verb.h"
#include "converter/output/output_signals.h"
#include "converter/recorders/elf_program.h"
#include "converter/recorders/recording.h"

VERB(record);

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
        snprintf(reason, size, "it is for %s, %s for %s: use the one for that machine",
                 machine_name(&of_library), command, machine_name(&of_program));
        return false;
    }
#ifdef __GLIBC__
    if (of_program.is_musl) {
        snprintf(reason, size, "it is for glibc, %s for musl: use a JDK for glibc", command);
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

struct recording {
    const char *output;
    const char *agent;
    bool report, summary; /* write report pages at the end */
    bool no_snapshot;     /* of references, for the report */
    struct recording_options options;
};

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

/* The name of the traces, which the caller frees; NULL if memory runs out.  JVMs started by other
 * programs may run in any directory, and there may be several. */
static char *trace_name(const struct recording *recording, enum launcher launcher)
{
    char directory[PATH_MAX] = "", escaped[2 * PATH_MAX];
    const char *output = recording->output, *slash = strrchr(output, '/');
    const char *ending = strrchr(slash != NULL ? slash : output, '.');
    size_t stem = ending != NULL ? (size_t) (ending - output) : strlen(output);
    char *name;
    if (launcher != LAUNCHER_OTHER)
        return strdup(output);
    bool is_here = output[0] != '/' && getcwd(directory, sizeof directory) != NULL;
    escape_percents(is_here ? directory : "", escaped);
    int length = asprintf(&name, "%s%s%.*s%s%s", escaped, is_here ? "/" : "", (int) stem, output,
                          strstr(output, "%p") == NULL ? "-%p" : "", output + stem);
    return length >= 0 ? name : NULL;
}

/* The option that makes a JVM load the agent, as trace_name(). */
static char *agent_option(const struct recording *recording, const char *agent, const char *name,
                          enum launcher launcher)
{
    char *option;
    int length =
        asprintf(&option, "%s-agentpath:%s=file=%s%s%s%s", launcher == LAUNCHER_TOOL ? "-J" : "",
                 agent, name, recording->report || recording->summary ? RECORDING_REPORT_STACK : "",
                 recording->report && !recording->no_snapshot ? RECORDING_REPORT_SNAPSHOT : "",
                 recording->options.text);
    return length >= 0 ? option : NULL;
}

/* Writes an option as JVMs read their variable: between quotes of one kind all else stands for
 * itself, and a quoted part may end anywhere. `out` has five times the option's length, and 3. */
static void quote_option(const char *option, char *out)
{
    bool needs_quotes = strpbrk(option, " \t\n\v\f\r'\"") != NULL;
    if (needs_quotes)
        *out++ = '"';
    for (; *option != '\0'; option++) {
        if (*option == '"')
            out = stpcpy(out, "\"'\"'\"");
        else
            *out++ = *option;
    }
    if (needs_quotes)
        *out++ = '"';
    *out = '\0';
}

/* Where a method with a handler throws often, C2 soon throws exceptions that have no stack trace.
 * With method events each method has a handler, so all would lose theirs. */
#define KEEP_TRACES "-XX:-OmitStackTraceInFastThrow"

/* Returns the option that the JVM gets besides the agent's, or NULL. */
static const char *other_option(const struct recording *recording, enum launcher launcher)
{
    if (!recording_has_handlers(&recording->options))
        return NULL;
    fprintf(stderr, "steptrace record: method events: with " KEEP_TRACES
                    ", so that exceptions keep their stack traces\n");
    return launcher == LAUNCHER_TOOL ? "-J" KEEP_TRACES : KEEP_TRACES;
}

/* Makes JVMs that the command starts load the agent, with another option unless it is NULL. */
static bool set_tool_options(const char *agent, const char *other)
{
    const char *before = getenv(TOOL_OPTIONS);
    bool has_more = before != NULL && before[0] != '\0';
    char quoted[5 * TEXT_MAX + 3], value[TEXT_MAX];
    quote_option(agent, quoted);
    int length = snprintf(value, sizeof value, "%s%s%s%s%s", quoted, other != NULL ? " " : "",
                          other != NULL ? other : "", has_more ? " " : "", has_more ? before : "");
    return length < (int) sizeof value && setenv(TOOL_OPTIONS, value, 1) == 0;
}

static enum step_status verb_record_fail(const char *what, const char *why)
{
    return command_fail(help.name, what, why);
}

/* Runs the command in place of this program or, if `process` is not NULL, in a child, and waits for
 * it; one that is none of the JDK gets the signals of this program.  Without an agent (NULL) it is
 * not traced.  `other` is an option of the JVM, or NULL. */
static enum step_status verb_record_start(char *agent, const char *other, enum launcher launcher,
                                          char **command, size_t count, pid_t *process)
{
    char **words = calloc(count + 3, sizeof *words);
    if (words == NULL)
        return verb_record_fail(command[0], "out of memory");
    size_t used = 0;
    words[used++] = command[0];
    if (agent != NULL && launcher != LAUNCHER_OTHER)
        words[used++] = agent;
    if (other != NULL && launcher != LAUNCHER_OTHER)
        words[used++] = (char *) other;
    for (size_t i = 1; i < count; i++)
        words[used++] = command[i];
    enum step_status status = STEP_STATUS_OK;
    if (agent != NULL && launcher == LAUNCHER_OTHER && !set_tool_options(agent, other))
        status = verb_record_fail(TOOL_OPTIONS, "the value is too long");
    if (status == STEP_STATUS_OK && process != NULL) {
        status = command_run(help.name, words, NULL, NULL, process);
        output_signals_catch();
    } else if (status == STEP_STATUS_OK) {
        fflush(NULL);
        command_exec(words);
        status = verb_record_fail(command[0], command_error(errno));
    }
    free(words);
    return status;
}

/* The command's own failure is that of this program. */
static enum step_status no_trace(const char *command)
{
    fprintf(stderr,
            "steptrace record: %s: no trace was written: the command started no JVM, or none that "
            "wrote one (a daemon that ran already, a cleared " TOOL_OPTIONS
            ", its messages above)\n",
            command);
    return verb_exit_code != 0 ? STEP_STATUS_OK : STEP_STATUS_IO;
}

static enum step_status record_with(const struct recording *recording,
                                    const struct arguments *arguments, char *option,
                                    const char *name, enum launcher launcher)
{
    struct timespec begun;
    pid_t process = 0;
    bool reports = recording->report || recording->summary, is_other = launcher == LAUNCHER_OTHER;
    clock_gettime(CLOCK_REALTIME_COARSE, &begun);
    if (isatty(STDERR_FILENO) != 0)
        report_line("recording to %s", name);
    enum step_status status = verb_record_start(
        option, other_option(recording, launcher), launcher, (char **) arguments->operands,
        arguments->operand_count, reports || is_other ? &process : NULL);
    if (is_other && status == STEP_STATUS_OK && !traces_exist(name, &begun))
        return no_trace(arguments->operands[0]);
    if (is_other)
        process = 0;
    if (status == STEP_STATUS_OK && recording->summary)
        status = traces_since(name, &begun, process, summary_of);
    if (status == STEP_STATUS_OK && recording->report)
        status = traces_since(name, &begun, process, report_of);
    return status;
}

static enum step_status verb_record_program(const struct recording *recording,
                                            const struct arguments *arguments)
{
    char agent[PATH_MAX];
    char **command = (char **) arguments->operands;
    enum launcher launcher = launcher_of(command[0]);
    if (strchr(recording->output, ',') != NULL)
        return arguments_fault(arguments, "-o %s: the agent accepts no comma in a file name",
                               recording->output);
    if (strcmp(recording->output, "-") == 0)
        return arguments_fault(arguments, "-o -: a trace that is recorded needs a file");
    if (recording_check_name(arguments, recording->output) != STEP_STATUS_OK)
        return STEP_STATUS_INVALID;
    if (!component_find("libtracer.so", "../agent", recording->agent, "STEPTRACE_AGENT", agent))
        return verb_record_fail("libtracer.so",
                                "cannot be found; --agent=PATH or STEPTRACE_AGENT names it");
    char reason[256];
    if (!elf_kinds_fit(agent, command[0], reason, sizeof reason)) {
        bool is_required = recording_has_pair(&recording->options, "required=yes");
        fprintf(stderr, "steptrace record: %s: %s%s\n", agent, reason,
                is_required ? "" : "; the program runs untraced");
        return is_required ? STEP_STATUS_IO
                           : verb_record_start(NULL, NULL, launcher, command,
                                               arguments->operand_count, NULL);
    }
    if (strchr(agent, '=') != NULL)
        return verb_record_fail(agent, "the JVM accepts no `=` in the path of an agent");
    char *name = trace_name(recording, launcher);
    if (name != NULL && strchr(name, ',') != NULL) {
        enum step_status refused =
            verb_record_fail(name, "the agent accepts no comma in a file name");
        free(name);
        return refused;
    }
    char *option = name != NULL ? agent_option(recording, agent, name, launcher) : NULL;
    enum step_status status = STEP_STATUS_NO_MEMORY;
    if (option != NULL && strlen(option) >= TEXT_MAX)
        status = arguments_fault(arguments, "the options are too long; use -O options=FILE");
    else if (option != NULL)
        status = record_with(recording, arguments, option, name, launcher);
    free(option);
    free(name);
    return status;
}

enum step_status verb_record(int argc, char **argv)
{
    struct recording recording = {.output = "run.step"};
    const struct option_row rows[] = {
        {"output", 'o', "OUT", "the trace (run.step)", take_text, &recording.output},
        {"file", 'f', "OUT", "the same", take_text, &recording.output},
        {"report", 0, NULL, "write OUT.html at the end; implies --stack=64", take_flag,
         &recording.report},
        {"no-snapshot", 0, NULL,
         "with --report: take no snapshot of references at the end (default: if estimated below 1 "
         "s)",
         take_flag, &recording.no_snapshot},
        {"summary", 0, NULL, "print the largest sites on stderr at the end; implies --stack=64",
         take_flag, &recording.summary},
        {"events", 'e', "LIST",
         "events to record: class, alloc, free, thread, method, reference, or all but the last",
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
    enum step_status status =
        recording_check_answers(&arguments, recording.report, recording.summary);
    return status == STEP_STATUS_OK ? verb_record_program(&recording, &arguments) : status;
}
