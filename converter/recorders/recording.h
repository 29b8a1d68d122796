/* SPDX-License-Identifier: Apache-2.0 */
/* What the verbs that record share: the project's programs and libraries, the options of recorders,
 * the recorded command, and reports of its traces. */
#ifndef CONVERTER_RECORDERS_RECORDING_H
#define CONVERTER_RECORDERS_RECORDING_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#include "converter/cli/arguments.h"
#include "converter/recorders/attach.h"

/* Finds a file of the project.  A path in `wanted` or else in the environment variable is the only
 * one checked.  Otherwise searches `directory` beside this program (a build tree), then the
 * installation.  `path` has room for PATH_MAX. */
bool component_find(const char *name, const char *directory, const char *wanted,
                    const char *variable, char *path);

/* Writes the path of the installed agent, or `wanted`, to `path`, which has PATH_MAX bytes.
 * Returns false, after reporting it, if there is none. */
bool agent_find(const char *wanted, char *path);
/* The same for a JVM: the agent that it has loaded already comes first. */
bool agent_of(const struct jvm_process *process, const char *wanted, char *path);

/* ---- recorder options of `record`, `attach` and `record-malloc`: key=value pairs ---- */

/* Call stack depth for a report if the user gave none. */
#define RECORDING_REPORT_STACK ",stack=64"
/* Without it a report does not know what keeps objects alive. */
#define RECORDING_REPORT_SNAPSHOT ",snapshot=end:1s"

/* ",key=value" for each pair, in command line order; the last one of a key counts. */
struct recording_options {
    char text[8192];
};

/* Parsers of option rows (converter/cli/arguments.h); the target is a struct recording_options. */
bool recording_take_pair(void *options_target, const char *value, const char **fault);
bool recording_take_events(void *options_target, const char *value, const char **fault);
bool recording_take_stack(void *options_target, const char *value, const char **fault);
bool recording_take_mode(void *options_target, const char *value, const char **fault);

/* Returns true if this pair, `key=value`, was given. */
bool recording_has_pair(const struct recording_options *options, const char *pair);
/* Returns true if each method gets an exception handler: method events of the default engine. */
bool recording_has_handlers(const struct recording_options *options);
/* Returns the value of the last `mode=`, or 0600. */
mode_t recording_mode(const struct recording_options *options);
/* Returns true if the last `overwrite=` is yes. */
bool recording_overwrites(const struct recording_options *options);

/* Returns OK unless the name is a device's, beside which a recorder would make a file with a
 * number, or has a % that means nothing; else reports it and returns INVALID. */
enum step_status recording_check_place(const struct arguments *arguments, const char *output);
/* Returns OK if a JVM's trace may have this name, and not that of a page or of another format,
 * which a recorder does not write; else reports it and returns INVALID. */
enum step_status recording_check_name(const struct arguments *arguments, const char *output);
/* Writes the value of the agent's option file= for an output of this working directory: an absolute
 * name, in which only the output's own % sequences are the agent's.  Returns false, with a message,
 * if a comma would begin another option, or the name is too long. */
bool recording_file_name(const char *output, char *name, size_t size);
/* Doubles each % of a path, as recorders want it; `escaped` has room for 2 * PATH_MAX bytes. */
void escape_percents(const char *path, char *escaped);

/* ---- the command that is recorded, and its program ---- */

/* Searches like execvp(). */
bool command_find(const char *command, char *path, size_t size);
/* Like execvp(), which runs a file that the system refuses as a shell script; but a file of ELF is
 * none. */
void command_exec(char **words);
/* Returns why a command was not started, for the errno of command_exec(). */
const char *command_error(int code);
/* Reports what a verb cannot do.  Returns IO. */
enum step_status command_fail(const char *verb, const char *what, const char *why);
/* Runs the command to its end, whose exit status becomes the verb's.  The command gets the signals
 * that would end this program; those that are ignored, as by nohup, stay so.  `prepare` (NULL:
 * nothing) runs in the child before it; returns false with errno.  Sets `*process`.  Reports why
 * the command could not be started. */
enum step_status command_run(const char *verb, char **words, bool (*prepare)(const void *user),
                             const void *user, pid_t *process);
/* Returns the signal that ended the last command, or 0. */
int command_signal(void);

/* ---- report pages and summaries of traces that have just been recorded ---- */

/* Writes the name of the page of a trace: FILE.html for FILE.step. */
void report_page_path(const char *trace, char *page, size_t size);
/* What writes pages: an analysis, which a build may lack.  Both report errors, and return CORRUPT
 * if the trace was damaged; the page of the rest may be written all the same. */
struct page_maker {
    /* Writes the page of a trace under a name that the user did not give. */
    enum step_status (*write_beside)(const char *trace, const char *page, bool *is_written);
    /* The same for standard output; `title` is that of the page. */
    enum step_status (*write_out)(const char *trace, const char *title, bool *is_written);
};
extern const struct page_maker *const page_maker; /* NULL: there is none */

/* Refuses --report and --summary, where they were given, in a build without these commands. */
enum step_status recording_check_answers(const struct arguments *arguments, bool report,
                                         bool summary);
/* Writes FILE.html for FILE.step, and reports its name on stderr. */
enum step_status report_of(const char *trace);
/* Prints on stderr what the trace allocated, and its largest sites. */
enum step_status summary_of(const char *trace);
/* Reports what the trace lacks: damaged blocks, its end, lost events.  Returns CORRUPT if there is
 * any of these, else OK. */
enum step_status lacks_of(const char *trace);
/* The same for a trace that messages call `name`. */
enum step_status lacks_as(const char *trace, const char *name);
/* Returns whether there is a trace since `start` of that name, as traces_since() takes it. */
bool traces_exist(const char *pattern, const struct timespec *start);
/* Calls `each` for all traces since `start` whose names match an agent's file name pattern (with
 * %p, %t, %h): NAME.step, or NAME.2.step if that existed.  If `process` (0: any) wrote any of them,
 * only for those.  IO, reported: there is none. */
enum step_status traces_since(const char *pattern, const struct timespec *start, pid_t process,
                              enum step_status (*each)(const char *trace));

/* ---- the trace that a process is writing ---- */

/* Writes its path, as the process sees it, to `path`, which has PATH_MAX bytes.  Returns INVALID if
 * there is no such process or it is not being recorded; the message says what to do. */
enum step_status process_trace_find(long pid, char *path, struct step_error *error);
/* Writes the name that this program has for a trace of that path: the path itself, or one below the
 * process's root if that differs.  Returns false with errno. */
bool process_file_find(const struct jvm_process *process, const char *path, char *out, size_t size);
/* Prints what the process records, as its trace says; reports errors. */
enum step_status process_trace_print(const char *pid);

struct watch_target {
    long pid; /* 0: the operand is a file */
    char path[PATH_MAX];
};

/* `operand`: a file or, if there is none, a process id.  If the process is another user's, this
 * program has only that user's rights afterwards.  Returns INVALID if there is no such
 * process or it is not being recorded; the message says what to do. */
enum step_status watch_target_find(const char *operand, struct watch_target *target,
                                   struct step_error *error);

#endif
