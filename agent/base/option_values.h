/* SPDX-License-Identifier: Apache-2.0 */
/* Parses the values of options: words, quantities, file names, patterns. Faults are logged and
 * counted, and parsing continues. */
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

/* Returns false if `text` is none of `words`. */
bool option_find_word(const struct option_word *words, size_t count, const char *text,
                      size_t length, uint32_t *value);
bool option_parse_word(struct option_parse *parse, const char *key, const char *value,
                       const struct option_word *words, size_t count, uint32_t *out);
/* Parses words separated by `+` and returns the bits of those that are known. */
uint32_t option_parse_words(struct option_parse *parse, const char *key, const char *value,
                            const struct option_word *words, size_t count);

/* A unit of quantities such as 64m or 2us. */
struct option_unit {
    const char *name;
    uint64_t factor;
};
/* `known` lists the units for messages; NULL if there are none. */
struct option_units {
    const char *known;
    size_t count;
    const struct option_unit *units;
};
extern const struct option_units option_sizes, option_times, option_periods, option_stops,
    option_events, option_numbers, option_counts;

void option_parse_quantity(struct option_parse *parse, const char *key, const char *value,
                           const struct option_units *units, uint64_t least, uint64_t most,
                           uint64_t *out);

/* Parses 2%, or 0.05%, in hundredths of a percent. */
void option_parse_share(struct option_parse *parse, const char *key, const char *value,
                        uint64_t *out);

/* Copies `value` to `out` (`size` bytes) and expands %p to the process id, %t to seconds since
 * 1970, %h to the host name, and %% to a percent sign. */
void option_parse_file(struct option_parse *parse, const char *key, const char *value, char *out,
                       size_t size);

/* Parses octal permissions that let the owner read and write. */
void option_parse_mode(struct option_parse *parse, const char *key, const char *value,
                       uint32_t *out);

/* Parses GLOB+GLOB.., of classes or of CLASS.METHOD. */
void option_parse_globs(struct option_parse *parse, const char *key, const char *value,
                        struct glob_list *list, bool of_methods);

/* The table of options. */

#define OPTION_FILE_DEFAULT "steptrace-%p.step"

/* A row of the table, which drives parsing, help and error messages. */
struct option {
    const char *key;
    const char *values;
    const char *fallback;
    const char *meaning;
    bool shared; /* also for recorders of native programs, not only for Java */
    /* Logs and counts faults. NULL for options=FILE, whose text option_text.c parses itself. */
    void (*set)(struct option_parse *parse, const struct option *option, const char *value);
    uint32_t named; /* enum option_named bit that is set, too */
    size_t at;      /* of its member in struct options */
    const struct option_word *words;
    size_t word_count;
    const struct option_units *units; /* of a quantity, from `least` to `most` */
    uint64_t least, most;
    bool may_be_none; /* a quantity: "none" is 0 */
    bool of_methods;  /* patterns of methods, not of classes */
};
extern const struct option option_table[];
extern const size_t option_count;

void option_table_defaults(struct options *options);
/* Returns false if `word` is no command to an agent in a running JVM. */
bool option_table_find_command(const char *word, uint32_t *command);

/* Constraints between options. */

/* Logs and counts contradictions, then applies implied options. */
void option_rules_apply(struct option_parse *parse);

/* Logs and returns false if memory= is less than what the engine needs in any case. */
bool option_rules_memory_suffices(const struct options *options);

/* Returns true if engine=jvmti may replace engine=bytecode: the user named no engine, and no option
 * that needs engine=bytecode. */
bool option_rules_allow_jvmti(const struct options *options);

#endif
