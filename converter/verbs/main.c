/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: finds the verb, runs it, and turns its status into an exit code. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "converter/base/error_report.h"
#include "converter/base/memory_limit.h"
#include "converter/base/output_file.h"
#include "converter/verbs/verb.h"

const struct verb verbs[] = {
    {"record", "run a Java program and record its trace", verb_record, false},
    {"attach", "record a JVM that is already running", verb_attach, false},
    {"snapshot", "add a snapshot of all references to a trace that is being recorded",
     verb_snapshot, false},
    {"record-malloc", "run a native program and record its calls of malloc and free",
     verb_record_malloc, false},
    {"convert", "convert a trace to another format", verb_convert, true},
    {"dump", "print events as text", verb_dump, true},
    {"info", "print what a trace contains", verb_info, true},
    {"check", "check that a trace is complete and consistent", verb_check, true},
    {"stats", "print allocations and lifetimes by class and thread", verb_stats, true},
    {"heap", "show what occupied the heap at a given moment, by class and allocation site",
     verb_heap, true},
    {"paths", "show the paths from roots that keep objects alive", verb_paths, true},
    {"deaths", "compute when each object became unreachable", verb_deaths, true},
    {"sql", "query traces in SQL", verb_sql, true},
    {"compare", "compare two traces, or two sets of traces", verb_compare, true},
    {"leaks", "list objects that survive collections, and how fast they grow", verb_leaks, true},
    {"lifetimes", "show how long objects live, by allocation site", verb_lifetimes, true},
    {"advise", "advise on allocation sites, with the evidence", verb_advise, true},
    {"escape", "show which allocations the JIT compiler removes", verb_escape, true},
    {"nominal", "print the nominal statistics of the DaCapo benchmark suite", verb_nominal, true},
    {"layout", "print what objects would take under other object layouts", verb_layout, true},
    {"locality", "print how far apart objects that refer to each other were allocated",
     verb_locality, true},
    {"simulate", "replay a trace against models of garbage collectors", verb_simulate, true},
    {"watch", "show live heap and allocation rates while a trace is being written", verb_watch,
     true},
    {"mcp", "let an assistant query traces (Model Context Protocol)", verb_mcp, false},
    {"report", "write a self-contained HTML report", verb_report, true},
    {"pack", "rewrite a STEP trace in less space, for archiving", verb_pack, true},
    {"replay", "replay a trace against malloc implementations and compare time and memory",
     verb_replay, true},
    {"recover", "repair a truncated or damaged trace", verb_recover, true},
    {"agent-path", "print the path of the agent", verb_agent_path, false},
    {"help", "explain the commands", verb_help, false},
    {"version", "print the version", verb_version, false},
};
const size_t verb_count = sizeof verbs / sizeof verbs[0];

int verb_exit_code; /* 0: success */

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
        return memory_limit_report() ? EXIT_BAD_INPUT : EXIT_FAILED;
    default:
        return EXIT_FAILED;
    }
}

static enum step_status unknown_verb(const char *name)
{
    const char *words[sizeof verbs / sizeof verbs[0]];
    for (size_t i = 0; i < verb_count; i++)
        words[i] = verbs[i].name;
    const char *nearest = nearest_word(name, words, verb_count);
    fputs("steptrace: unknown verb '", stderr);
    print_shown_text(name, stderr);
    fputc('\'', stderr);
    if (nearest != NULL)
        fprintf(stderr, "; did you mean '%s'?", nearest);
    fprintf(stderr, "\n(`steptrace help` lists the verbs)\n");
    return STEP_STATUS_INVALID;
}

static enum step_status run(int argc, char **argv)
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
    for (size_t i = 0; i < verb_count; i++)
        if (strcmp(verbs[i].name, name) == 0) {
            if (verbs[i].takes_memory)
                memory_limit_set_default();
            return verbs[i].run(argc - 2, argv + 2);
        }
    return unknown_verb(name);
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_DFL); /* end silently if the reader of the output has gone */
    output_file_catch_signals();
    enum step_status status = run(argc, argv);
    if (fflush(stdout) != 0 && status == STEP_STATUS_OK) {
        report_line("standard output: %s", strerror(errno));
        status = STEP_STATUS_IO;
    }
    return exit_code_of(status);
}
