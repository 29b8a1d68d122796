/* SPDX-License-Identifier: Apache-2.0 */
/* The table of verbs and their common interface. */
#ifndef CONVERTER_CLI_VERB_H
#define CONVERTER_CLI_VERB_H

#include "converter/cli/arguments.h"
#include "converter/cli/given_definition.h"
#include "converter/cli/memory_limit.h"

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

/* All verbs, in the order of the help. */
extern const struct verb verbs[];
extern const size_t verb_count;
/* The names of those that this build lacks; NULL ends them. */
extern const char *const verbs_left_out[];
/* Returns NULL if there is none. */
const struct verb *verb_find(const char *name);
/* Reports that there is no such command, with what has replaced it, that other builds have it,
 * or the most similar name.
 * Returns INVALID. */
enum step_status verb_unknown(const char *name);

/* Declares verb_NAME(), in the file of the command.  steptrace_verb() (cmake/registry.cmake) in the
 * CMakeLists.txt of its folder puts it into the table. */
#define VERB(name) enum step_status verb_##name(int argc, char **argv)

#endif
