/* SPDX-License-Identifier: Apache-2.0 */
/* Values of options, as they are written: words, quantities, file names, patterns.  What is wrong
 * is logged and counted, and the rest is read on. */
#ifndef AGENT_BASE_OPTION_VALUES_H
#define AGENT_BASE_OPTION_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct glob_list;
struct options;

/* State of one parse. */
struct option_parse {
    struct options *options;
    unsigned faults;
    unsigned file_depth;
    bool only_shared;
};

struct option_word {
    const char *name;
    uint32_t value;
};

#define OPTION_WORDS(table) table, sizeof table / sizeof table[0]

/* False: the text is none of them. */
bool option_find_word(const struct option_word *words, size_t count, const char *text,
                      size_t length, uint32_t *value);
bool option_parse_word(struct option_parse *parse, const char *key, const char *value,
                       const struct option_word *words, size_t count, uint32_t *out);
/* Several with + between: the bits of those that are known. */
uint32_t option_parse_words(struct option_parse *parse, const char *key, const char *value,
                            const struct option_word *words, size_t count);

/* A number and a unit of the table, as 64m or 2us. */
struct option_unit {
    const char *name;
    uint64_t factor;
};
/* `known` tells of the units in a message; NULL: there are none. */
struct option_units {
    const char *known;
    size_t count;
    const struct option_unit *units;
};
extern const struct option_units option_sizes, option_times, option_periods, option_numbers;

void option_parse_quantity(struct option_parse *parse, const char *key, const char *value,
                           const struct option_units *units, uint64_t least, uint64_t most,
                           uint64_t *out);

/* %p process id, %t seconds since 1970, %h host name, %% a percent sign; `out` has `size` bytes. */
void option_parse_file(struct option_parse *parse, const char *key, const char *value, char *out,
                       size_t size);

/* Octal permissions with which the owner can read and write. */
void option_parse_mode(struct option_parse *parse, const char *key, const char *value,
                       uint32_t *out);

/* option_globs.c: GLOB+GLOB.., of classes, or of CLASS.METHOD. */
void option_parse_globs(struct option_parse *parse, const char *key, const char *value,
                        struct glob_list *list, bool of_methods);

#endif
