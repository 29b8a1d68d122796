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

struct verb {
    const char *name;
    const char *summary;
    verb_function run;
    bool takes_memory; /* uses memory up to the limit (memory_limit.h) */
};

/* The options of all verbs that read traces, at the end of their tables. */
#define READING_ROWS DEFINITION_ROW, MEMORY_ROW
/* The options of verbs that print a table of call sites. */
#define TOP_ROW(rows)                                                                              \
    {                                                                                              \
        "top", 'n', "N", "rows of the table (20; 0: all)", take_count, rows                        \
    }
#define DEPTH_ROW(frames)                                                                          \
    {                                                                                              \
        "depth", 0, "N", "frames per site (4; 0: all)", take_count, frames                         \
    }

/* Exit code of a verb that succeeded: that of the program it ran, or VERB_EXIT_GATE if a gate
 * failed. */
extern int verb_exit_code;
#define VERB_EXIT_GATE 4

extern const struct verb verbs[];
extern const size_t verb_count;

enum step_status verb_record(int argc, char **argv);
enum step_status verb_attach(int argc, char **argv);
enum step_status verb_snapshot(int argc, char **argv);
enum step_status verb_record_malloc(int argc, char **argv);
enum step_status verb_convert(int argc, char **argv);
enum step_status verb_dump(int argc, char **argv);
enum step_status verb_deaths(int argc, char **argv);
enum step_status verb_paths(int argc, char **argv);
enum step_status verb_info(int argc, char **argv);
enum step_status verb_check(int argc, char **argv);
enum step_status verb_stats(int argc, char **argv);
enum step_status verb_heap(int argc, char **argv);
enum step_status verb_compare(int argc, char **argv);
enum step_status verb_layout(int argc, char **argv);
enum step_status verb_leaks(int argc, char **argv);
enum step_status verb_mcp(int argc, char **argv);
enum step_status verb_watch(int argc, char **argv);
enum step_status verb_report(int argc, char **argv);
enum step_status verb_pack(int argc, char **argv);
enum step_status verb_advise(int argc, char **argv);
enum step_status verb_lifetimes(int argc, char **argv);
enum step_status verb_escape(int argc, char **argv);
enum step_status verb_nominal(int argc, char **argv);
enum step_status verb_locality(int argc, char **argv);
enum step_status verb_simulate(int argc, char **argv);
enum step_status verb_sql(int argc, char **argv);
enum step_status verb_replay(int argc, char **argv);
enum step_status verb_recover(int argc, char **argv);
enum step_status verb_agent_path(int argc, char **argv);
enum step_status verb_help(int argc, char **argv);
enum step_status verb_version(int argc, char **argv);

#endif
