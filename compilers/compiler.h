/* SPDX-License-Identifier: Apache-2.0 */
/* Command line, fault reports, output files and names in C, shared by the compilers stepc and
 * metatfc. */
#ifndef COMPILERS_COMPILER_H
#define COMPILERS_COMPILER_H

#include <stddef.h>
#include <stdio.h>

#include "steptrace/definition.h"

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_BAD_INPUT = 3 };

/* An output that an option selects.  `run` receives the arguments after the option, `check` each of
 * them, which are files; both return an exit code, of which the highest is that of the program. */
struct compiler_output {
    const char *option;
    const char *arguments;
    const char *meaning;
    int (*run)(int count, char **arguments);
    int (*check)(const char *path);
};

struct compiler {
    const char *program;
    const char *title; /* heading in the help */
    const char *notes; /* printed below the options in the help */
    const char *usage; /* printed after "usage: PROGRAM " */
    const struct compiler_output *outputs;
    size_t output_count;
};

/* Runs the output that the first argument selects, or --version or --help.  `valid` is false if
 * parsing earlier arguments failed.  Returns the exit code. */
int compiler_run(const struct compiler *compiler, bool valid, int count, char **arguments);

/* Returns the text of a file, or of standard input for "-": at most one byte beyond the limit.
 * Returns NULL after printing the error. */
char *compiler_read_text(const char *program, const char *path, size_t limit, size_t *length);

/* Flushes standard output.  Returns an exit code. */
int compiler_finish_output(const char *program);

/* Prints "file:line:column: message", then the line with a caret.  A step_fault_visit. */
void compiler_report_fault(void *user, const struct step_fault *fault);

/* Writes BASE.h and BASE.c, each under a temporary name, and renames it.  Returns false after
 * printing the error. */
typedef void (*compiler_write)(const void *user, FILE *out);
bool compiler_write_files(const char *program, const char *base, compiler_write header,
                          compiler_write source, const void *user);

enum { COMPILER_PREFIX_LIMIT = 64, COMPILER_BASE_SIZE = 192 };

/* Removes `--prefix PREFIX`, the prefix of all C names, from the arguments; `*prefix` is "" without
 * it.  Returns false if PREFIX is missing, too long, or cannot start a C name. */
bool compiler_take_prefix(int *count, char **arguments, const char **prefix);

/* Returns the file's name without directories, and stores "my-trace" as the C name "my_trace",
 * after the prefix, in COMPILER_BASE_SIZE bytes.  Returns NULL after printing the error if the name
 * is not usable. */
const char *compiler_base(const char *program, const char *path, const char *prefix, char *name);

/* Writes a C string literal, one source line for each line of the text, which may have any bytes.
 */
void c_literal_put(FILE *out, const char *text, size_t length);

/* Names in the generated C code, for stepc and metatfc. */

#define C_NAME_SIZE 512

/* Return true if the name is a C or C++ keyword, a macro of a standard header, or reserved for the
 * implementation; or if it is a type of a standard header. */
bool c_names_is_reserved(const char *name);
bool c_names_is_type(const char *name);

/* Converts "zoo.NightFeeding" to "zoo_night_feeding".  The record's final C name may differ. */
void c_names_of_record(const char *name, char *out, size_t size);
void c_names_upper(const char *name, char *out, size_t size);
/* Copies the field's name, with an underscore appended if it is reserved.  Returns `out`. */
const char *c_names_of_field(const struct step_field *field, char *out, size_t size);
/* Like c_names_of_field() for a record's field by index; the name is unique among the record's
 * fields. */
const char *c_names_of_member(const struct step_record *record, size_t field, char *out,
                              size_t size);

#endif
