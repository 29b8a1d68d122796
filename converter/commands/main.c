/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: finds the verb, runs it, and turns its status into an exit code. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "converter/cli/error_report.h"
#include "converter/cli/memory_limit.h"
#include "converter/cli/verb.h"
#include "converter/files/sampled_trace.h"
#include "converter/output/output_signals.h"

VERB(help);

enum exit_code { EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_BAD_INPUT = 3 };

static int exit_code_of(enum step_status status)
{
    switch (status) {
    case STEP_STATUS_OK:
        return verb_exit_code;
    case STEP_STATUS_INVALID:
        return EXIT_USAGE;
    case STEP_STATUS_CORRUPT:
    case STEP_STATUS_CUT:
    case STEP_STATUS_FORMAT:
        return EXIT_BAD_INPUT;
    case STEP_STATUS_NO_MEMORY:
        memory_limit_report(); /* the trace may be whole */
        return EXIT_FAILED;
    default:
        return EXIT_FAILED;
    }
}

static enum step_status main_run(int argc, char **argv)
{
    if (argc < 2) {
        verb_help(0, NULL);
        return STEP_STATUS_INVALID;
    }
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
        name = "help";
    else if (strcmp(name, "--version") == 0)
        name = "version";
    const struct verb *verb = verb_find(name);
    if (verb == NULL)
        return verb_unknown(name);
    if (verb->takes_memory)
        memory_limit_set_default();
    return verb->run(argc - 2, argv + 2);
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_DFL); /* end silently if the reader of the output has gone */
    output_signals_catch();
    sampled_traces_tell();
    enum step_status status = main_run(argc, argv);
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == STEP_STATUS_OK) {
        report_line("standard output: %s", strerror(errno));
        status = STEP_STATUS_IO;
    }
    return exit_code_of(status);
}
