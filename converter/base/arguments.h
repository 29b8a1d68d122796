/* SPDX-License-Identifier: Apache-2.0 */
/* Command-line options as rows of a table: parsing, `--help` and faults all go by it. */
#ifndef CONVERTER_BASE_ARGUMENTS_H
#define CONVERTER_BASE_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "steptrace/status.h"

struct option_row {
    const char *name;  /* without the dashes */
    char letter;       /* 0: none */
    const char *value; /* what the value is called in the help; NULL: the option takes none */
    const char *help;
    /* Takes the value (NULL where the option has none).  False: the value is bad; `*fault` may say
     * what was expected. */
    bool (*take)(void *target, const char *value, const char **fault);
    void *target;
};

/* What a verb says of itself. */
struct verb_help {
    const char *name;
    const char *operands; /* as in "IN -o OUT" */
    const char *text;     /* what it does, lines of at most 80 characters */
};

struct arguments {
    const struct verb_help *help;
    const struct option_row *rows;
    size_t row_count;
    bool stop_at_operand; /* what follows the first operand belongs to somebody else */
    /* results */
    const char **operands; /* point into argv, NULL behind them as behind argv */
    size_t operand_count;
    uint64_t given;   /* bits of the first 64 rows: their options were there */
    bool help_wanted; /* `--help` was there, and has been printed */
};

/* Parses argv[0..argc-1] (the verb itself is not among them); operands are moved to the front of
 * argv.  INVALID: the fault was reported on stderr. */
enum step_status arguments_parse(struct arguments *arguments, int argc, char **argv);
/* Says that there must be between `least` and `most` operands. */
enum step_status arguments_expect(const struct arguments *arguments, size_t least, size_t most);
/* Both.  True: the verb goes on; else `*status` is what it returns, OK after `--help`. */
bool arguments_read(struct arguments *arguments, int argc, char **argv, size_t least, size_t most,
                    enum step_status *status);
/* Tells a fault of usage on stderr, with where to find help.  Returns INVALID. */
__attribute__((format(printf, 2, 3))) enum step_status arguments_fault(
    const struct arguments *arguments, const char *format, ...);
void arguments_print_help(const struct arguments *arguments);
/* What `--help` prints, from now on; arguments_print_help() at first. */
typedef void (*arguments_printer)(const struct arguments *arguments);
void arguments_print_with(arguments_printer print);

/* The nearest of the words to what was typed, or NULL where none is near. */
const char *nearest_word(const char *typed, const char *const *words, size_t count);

/* Values that several verbs take; the targets' types are in the names. */
bool take_flag(void *bool_target, const char *value, const char **fault);
bool take_text(void *text_target, const char *value, const char **fault);
bool take_count(void *uint64_target, const char *value, const char **fault);
bool take_level(void *int_target, const char *value, const char **fault);
bool take_time(void *uint64_target, const char *value, const char **fault);
bool take_size(void *uint64_target, const char *value, const char **fault);

#endif
