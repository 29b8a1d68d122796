/* SPDX-License-Identifier: Apache-2.0 */
/* What the compilers stepc and metatfc have in common: options, faults, files that are written. */
#ifndef COMPILERS_COMPILER_H
#define COMPILERS_COMPILER_H

#include <stdio.h>

#include "steptrace/definition.h"

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_BAD_INPUT = 3 };

/* What a compiler makes, by option; `run` gets the arguments behind it and gives an exit code. */
struct compiler_output {
    const char *option;
    const char *arguments;
    const char *meaning;
    int (*run)(int count, char **arguments);
};

struct compiler {
    const char *program;
    const char *title; /* of its help */
    const char *notes; /* below the options in it */
    const char *usage; /* behind "usage: PROGRAM " */
    const struct compiler_output *outputs;
    size_t output_count;
};

/* Runs what the first argument asks for, --version and --help included; not `valid`: arguments
 * before it were wrong.  The exit code. */
int compiler_run(const struct compiler *compiler, bool valid, int count, char **arguments);

/* Checks one file after the other; `check` gives an exit code.  The worst of these. */
int compiler_check_files(int count, char **arguments, int (*check)(const char *path));

/* Flushes standard output; an exit code. */
int compiler_finish_output(const char *program);

/* "file:line:column: message", then the line with a caret.  A step_fault_visit. */
void compiler_report_fault(void *user, const struct step_fault *fault);

/* Writes BASE.ENDING under a temporary name and renames it; false: said why on stderr. */
bool compiler_write_file(const char *program, const char *base, const char *ending,
                         void (*write)(const void *user, FILE *out), const void *user);

enum { COMPILER_PREFIX_LIMIT = 64, COMPILER_BASE_SIZE = 192 };

/* Takes `--prefix PREFIX` out of the arguments: what all C names are to begin with; "" without.
 * False: it is missing, too long, or no C name begins so. */
bool compiler_take_prefix(int *count, char **arguments, const char **prefix);

/* The file's name without directories, and "my-trace" as the C name "my_trace" behind the prefix,
 * in COMPILER_BASE_SIZE bytes.  NULL: it does not do, said on stderr. */
const char *compiler_base(const char *program, const char *path, const char *prefix, char *name);

#endif
