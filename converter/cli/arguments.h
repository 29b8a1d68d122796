/* SPDX-License-Identifier: Apache-2.0 */
/* Command-line options of verbs, described by a table.  The table drives parsing, `--help` and
 * error messages. */
#ifndef CONVERTER_CLI_ARGUMENTS_H
#define CONVERTER_CLI_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "steptrace/status.h"

struct option_row {
    const char *name;  /* without the dashes */
    char letter;       /* 0: no short form */
    const char *value; /* the value's placeholder in the help; NULL: the option has no value */
    const char *help;
    /* Parses `value` (NULL if the option has none) into `target`.  Returns false if the value is
     * invalid; it may then set `*fault` to a text that says what was expected. */
    bool (*take)(void *target, const char *value, const char **fault);
    void *target;
};

/* The head of a verb's help. */
struct verb_help {
    const char *name;
    const char *operands; /* as in "IN -o OUT" */
    const char *text;     /* description, lines of at most 80 characters */
};

struct arguments {
    const struct verb_help *help;
    const struct option_row *rows;
    size_t row_count;
    bool stop_at_operand; /* parse no options after the first operand */
    /* results */
    const char **operands; /* point into argv; the array ends with NULL */
    size_t operand_count;
    uint64_t given;   /* bitmap of the rows whose option was given (first 64 rows only) */
    bool help_wanted; /* `--help` was given, and the help was printed */
    enum step_status status;
};

/* The arguments of the verb with this help and this array of rows. */
#define ARGUMENTS_OF(its_help, its_rows)                                                           \
    {                                                                                              \
        .help = &(its_help), .rows = (its_rows),                                                   \
        .row_count = sizeof(its_rows) / sizeof *(its_rows)                                         \
    }

/* Parses argv[0..argc-1], which does not include the verb, moves operands to the front of argv, and
 * checks that there are `least` to `most`.  Returns true if the verb should continue; otherwise
 * `status` is the verb's status (OK after `--help`, INVALID after an error, which is reported). */
bool arguments_read(struct arguments *arguments, int argc, char **argv, size_t least, size_t most);
/* Reports an error and returns INVALID if two operands that follow each other, as a shell's
 * pattern gives them, are files of one recording. */
enum step_status arguments_refuse_files(const struct arguments *arguments);
/* Reports a usage error on stderr, with a reference to `--help`.  Returns INVALID. */
__attribute__((format(printf, 2, 3))) enum step_status arguments_fault(
    const struct arguments *arguments, const char *format, ...);
void arguments_print_help(const struct arguments *arguments);
/* Replaces the function that prints the help for `--help` (default: arguments_print_help()). */
typedef void (*arguments_printer)(const struct arguments *arguments);
void arguments_print_with(arguments_printer print);

/* Returns the word most similar to `typed`, or NULL if none is similar enough. */
const char *nearest_word(const char *typed, const char *const *words, size_t count);

/* The target of take_word() and take_set(): a bool, an enum or an unsigned. */
struct option_number {
    void *number;
    size_t number_bytes;
    const char *const *words; /* of take_word(); the array ends with NULL */
    unsigned value;           /* of take_set() */
};
/* The value is one of these words (an empty one is none), whose index goes to `its_number`. */
#define WORDS(its_number, ...)                                                                     \
    take_word, &(struct option_number)                                                             \
    {                                                                                              \
        .number = &(its_number), .number_bytes = sizeof(its_number),                               \
        .words = (const char *const[])                                                             \
        {                                                                                          \
            __VA_ARGS__, NULL                                                                      \
        }                                                                                          \
    }
/* The same for an option of a format, which names the type: its place in the values is known later
 * (trace_format.h). */
#define WORDS_OF(type, ...)                                                                        \
    take_word, &(struct option_number)                                                             \
    {                                                                                              \
        .number_bytes = sizeof(type), .words = (const char *const[])                               \
        {                                                                                          \
            __VA_ARGS__, NULL                                                                      \
        }                                                                                          \
    }
/* The option has no value, and makes `its_number` this one. */
#define SETS(its_number, its_value)                                                                \
    take_set, &(struct option_number)                                                              \
    {                                                                                              \
        .number = &(its_number), .number_bytes = sizeof(its_number), .value = (its_value)          \
    }
bool take_word(void *option_number_target, const char *value, const char **fault);
bool take_set(void *option_number_target, const char *value, const char **fault);

/* Parses one or several of the words, with + or , between, and sets `*bits` by their indexes. */
bool take_some_of(const char *const *words, size_t count, const char *value, unsigned *bits);

/* Parsers of values that several verbs use.  The parameter names give the type of the target. */
bool take_flag(void *bool_target, const char *value, const char **fault);
bool take_text(void *text_target, const char *value, const char **fault);
bool take_count(void *uint64_target, const char *value, const char **fault);
bool take_level(void *int_target, const char *value, const char **fault);
/* A number with ns, us, ms, s, m, min or h; without a unit, seconds. */
bool take_time(void *uint64_target, const char *value, const char **fault);
bool take_size(void *uint64_target, const char *value, const char **fault);

/* Passes the lines of a file to `take`, without comments (# at the start of a line or after a
 * blank) and trailing blanks; empty ones are left out.  Writes to `fault`, which has `fault_size`
 * bytes, that the file cannot be read or a line has more than `most` bytes, and returns false, as
 * after `take` has. */
typedef bool take_line(void *target, const char *line, const char *file, size_t number);
bool take_lines(const char *file, size_t most, take_line *take, void *target, char *fault,
                size_t fault_size);

#endif
