/* SPDX-License-Identifier: Apache-2.0 */
/* steptrace escape: shows which allocations the JIT compiler removes. */
#include <string.h>

#include "converter/trace/selection_options.h"
#include "converter/verbs/site_reading.h"
#include "converter/verbs/verb.h"

static const struct verb_help help = {
    .name = "escape",
    .operands = "IN --jit-log=FILE [OPTION]...",
    .text = "Shows which allocations of a trace the JIT compiler C2 removes (escape analysis), as\n"
            "the log of an untraced run has it (-XX:+LogCompilation): by class and bytecode\n"
            "index, at most so many objects, and an estimate. Record the trace with\n"
            "engine=jvmti,stack=4,places=bytecode and -XX:TieredStopAtLevel=1.\n"};

/* The property of a trace, or an empty text. */
static const char *property(const struct input *input, const char *name)
{
    const char *value = event_source_property(input->source, name);
    return value != NULL ? value : "";
}

/* C1 removes nothing.  C2 without escape analysis still does: objects that nothing uses. */
static bool is_without_c2(const char *command_line)
{
    static const char option[] = "-XX:TieredStopAtLevel=";
    const char *at = strstr(command_line, option);
    return at != NULL && strchr("0123", at[sizeof option - 1]) != NULL &&
           at[sizeof option - 1] != '\0';
}

static bool accepts(struct site_reading *reading, const struct input *input, const char *path)
{
    const char *options = property(input, "options"), *engine = property(input, "engine");
    const char *fault = NULL;
    if (input->allocs != NULL)
        fault = "the trace is of a native program: no JIT compiler";
    else if (strcmp(engine, "jvmti") != 0 || strstr(options, "places=bytecode") == NULL)
        fault = "its call stacks have no bytecode indexes: record it with "
                "-O engine=jvmti,stack=4,places=bytecode";
    if (fault != NULL) {
        report_unfit(path, fault);
        return false;
    }
    if (!is_without_c2(property(input, "command-line")) &&
        strstr(property(input, "java-vm-info"), "interpreted mode") == NULL)
        reading->report.not_source = "recorded without -XX:TieredStopAtLevel=1, so C2 removed some";
    return true;
}

static enum step_status no_log(void)
{
    report_line("escape: --jit-log=FILE is needed, a log of -XX:+UnlockDiagnosticVMOptions "
                "-XX:+LogCompilation");
    return STEP_STATUS_INVALID;
}

enum step_status verb_escape(int argc, char **argv)
{
    struct jit_log log;
    struct site_reading reading = {.report = {.top = TOP_DEFAULT, .jit = &log}, .accepts = accepts};
    struct step_error error = {.offset = STEP_NO_OFFSET};
    const char *path = NULL;
    bool as_json = false;
    const struct option_row rows[] = {{"jit-log", 0, "FILE",
                                       "the log of -XX:+LogCompilation of an untraced run",
                                       take_text, &path},
                                      TOP_ROW(&reading.report.top),
                                      {"json", 0, NULL, "as JSON", take_flag, &as_json},
                                      MEMORY_ROW};
    struct arguments arguments = ARGUMENTS_OF(help, rows);
    if (!arguments_read(&arguments, argc, argv, 1, 1))
        return arguments.status;
    if (path == NULL)
        return no_log();
    reading.print = as_json ? escape_print_json : escape_print_text;
    enum step_status read = jit_log_read(&log, path, &error);
    if (read != STEP_STATUS_OK)
        report_error(&error);
    enum step_status status = read;
    if (read == STEP_STATUS_OK || read == STEP_STATUS_CUT)
        status = site_reading_run(&reading, arguments.operands[0]);
    jit_log_reset(&log);
    return status != STEP_STATUS_OK ? status : read;
}
