/* SPDX-License-Identifier: Apache-2.0 */
/* The table of verbs and their common interface. */
#ifndef CONVERTER_VERBS_VERB_H
#define CONVERTER_VERBS_VERB_H

#include "converter/base/arguments.h"
#include "converter/base/given_definition.h"
#include "converter/base/memory_limit.h"
#include "converter/formats/format_table.h"
#include "converter/trace/event_source.h"
#include "converter/trace/trace_format.h"

/*
 * A verb takes its arguments (without its own name) and returns one of these, or the status of
 * another failure.  It has reported all errors.
 *
 *   OK       success
 *   INVALID  usage error
 *   CORRUPT  the input was damaged or cut; the readable part was processed
 */
typedef enum step_status (*verb_function)(int argc, char **argv);

/* The groups of the help. */
enum verb_group {
    VERBS_RECORD,
    VERBS_LOOK,
    VERBS_COMPARE,
    VERBS_CONVERT,
    VERBS_STUDY,
    VERBS_OTHER,
    VERB_GROUPS
};

struct verb {
    const char *name;
    const char *summary;
    verb_function run;
    bool takes_memory; /* uses memory up to the limit (memory_limit.h) */
    enum verb_group group;
};

/* The options of all verbs that read traces, at the end of their tables. */
#define READING_ROWS DEFINITION_ROW, MEMORY_ROW
/* The options of verbs that print a table of call sites. */
#define TOP_DEFAULT UINT64_C(20)
#define DEPTH_DEFAULT UINT64_C(4)
#define TOP_ROW(rows)                                                                              \
    {                                                                                              \
        "top", 'n', "N", "rows of the table (20; 0: all)", take_count, rows                        \
    }
#define DEPTH_ROW(frames)                                                                          \
    {                                                                                              \
        "depth", 0, "N", "frames per site (4; 0: all)", take_count, frames                         \
    }

/* Exit code of a verb that succeeded: that of the program it ran, or GATE_EXIT_CODE if a gate
 * failed. */
extern int verb_exit_code;

extern const struct verb verbs[];
extern const size_t verb_count;
/* Returns NULL if there is none. */
const struct verb *verb_find(const char *name);

/* All verbs, in the order of the help, the most used of a group first: function, name, summary
 * (with its name in 80 columns), takes_memory, group. */
#define VERBS(VERB)                                                                                \
    VERB(record, "record", "run a Java program and record its trace", false, VERBS_RECORD)         \
    VERB(attach, "attach", "record a JVM that is already running", false, VERBS_RECORD)            \
    VERB(snapshot, "snapshot", "add a snapshot of all references to a running recording", false,   \
         VERBS_RECORD)                                                                             \
    VERB(record_malloc, "record-malloc",                                                           \
         "run a native program and record its calls of malloc and free", false, VERBS_RECORD)      \
    VERB(report, "report", "write a self-contained HTML report", true, VERBS_LOOK)                 \
    VERB(stats, "stats", "print allocations and lifetimes by class and thread", true, VERBS_LOOK)  \
    VERB(heap, "heap", "show what occupied the heap at a moment, by class and site", true,         \
         VERBS_LOOK)                                                                               \
    VERB(leaks, "leaks", "list objects that survive collections, and how fast they grow", true,    \
         VERBS_LOOK)                                                                               \
    VERB(paths, "paths", "show the paths from roots that keep objects alive", true, VERBS_LOOK)    \
    VERB(watch, "watch", "show live heap and rates while a trace is being written", true,          \
         VERBS_LOOK)                                                                               \
    VERB(sql, "sql", "query traces in SQL", true, VERBS_LOOK)                                      \
    VERB(info, "info", "print what a trace contains", true, VERBS_LOOK)                            \
    VERB(dump, "dump", "print events as text", true, VERBS_LOOK)                                   \
    VERB(mcp, "mcp", "let an assistant query traces (Model Context Protocol)", false, VERBS_LOOK)  \
    VERB(compare, "compare", "compare two traces, or two sets of traces", true, VERBS_COMPARE)     \
    VERB(check, "check", "check that a trace is complete and consistent", true, VERBS_COMPARE)     \
    VERB(convert, "convert", "convert a trace to another format", true, VERBS_CONVERT)             \
    VERB(pack, "pack", "rewrite a STEP trace in less space, for archiving", true, VERBS_CONVERT)   \
    VERB(recover, "recover", "repair a truncated or damaged trace", true, VERBS_CONVERT)           \
    VERB(lifetimes, "lifetimes", "show how long objects live, by allocation site", true,           \
         VERBS_STUDY)                                                                              \
    VERB(advise, "advise", "suggest fixes for allocation sites (pretenure, reuse, presize)", true, \
         VERBS_STUDY)                                                                              \
    VERB(deaths, "deaths", "compute when each object became unreachable", true, VERBS_STUDY)       \
    VERB(simulate, "simulate", "replay a trace against models of garbage collectors", true,        \
         VERBS_STUDY)                                                                              \
    VERB(escape, "escape", "show which allocations the JIT compiler removes", true, VERBS_STUDY)   \
    VERB(nominal, "nominal", "print the nominal statistics of the DaCapo benchmarks", true,        \
         VERBS_STUDY)                                                                              \
    VERB(layout, "layout", "print what objects would take under other object layouts", true,       \
         VERBS_STUDY)                                                                              \
    VERB(locality, "locality", "print how far apart objects that refer to each other are", true,   \
         VERBS_STUDY)                                                                              \
    VERB(replay, "replay", "replay a trace against malloc implementations", true, VERBS_STUDY)     \
    VERB(agent_path, "agent-path", "print the path of the agent", false, VERBS_OTHER)              \
    VERB(help, "help", "explain the commands", false, VERBS_OTHER)                                 \
    VERB(version, "version", "print the version", false, VERBS_OTHER)

#define VERB_FUNCTION(function, ...) enum step_status verb_##function(int argc, char **argv);
VERBS(VERB_FUNCTION)
#undef VERB_FUNCTION

/* Writes the page of a trace under a name that the user did not give.  Reports errors.  Returns
 * CORRUPT if the trace was damaged; the page of the rest may be written all the same. */
enum step_status report_write_beside(const char *trace, const char *page, bool *is_written);
/* The same for standard output; `title` is that of the page. */
enum step_status report_write_out(const char *trace, const char *title, bool *is_written);

/* A trace with exact deaths, for a verb that reads it. */
struct dated_spool {
    char path[256]; /* empty: there is none */
    int descriptor; /* the caller closes it if it is not -1 */
};

/* Writes it into an unnamed file.  A trace that has exact deaths already is used in place.  Reports
 * errors.  Returns CORRUPT if the input was damaged. */
enum step_status date_deaths_spooled(const char *path, struct dated_spool *spool);

#endif
