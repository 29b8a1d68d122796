/* SPDX-License-Identifier: Apache-2.0 */
/* An opened trace: what the makers of rows share. */
#ifndef CONVERTER_TABLES_TABLES_TRACE_H
#define CONVERTER_TABLES_TABLES_TRACE_H

#include "converter/base/name_index.h"
#include "converter/base/record_layout.h"
#include "converter/base/trace_ticks.h"
#include "converter/step/java_records.h"
#include "converter/tables/table.h"
#include "converter/tables/table_rows.h"

/*
 * Names by the numbers that a trace's records have: dictionaries of texts in which none is there
 * twice (two classes of one name, from two loaders, have one code).
 */

/* What has no name: "?". */
#define NO_NAME_CODE UINT32_MAX

struct table_names {
    struct table_dictionary dictionary;
    struct step_bytes *texts; /* of the dictionary */
    size_t capacity;
    struct name_index index; /* code + 1 by text */
    void **owned;            /* texts that were made here */
    size_t owned_count, owned_capacity;
    uint32_t *codes; /* by number; NO_NAME_CODE: not made yet */
    size_t code_count;
};

/* `numbers`: one more than the largest that may get a name of its own. */
enum step_status table_names_init(struct table_names *names, uint64_t numbers,
                                  struct step_error *error);
void table_names_reset(struct table_names *names);

/* The code of a text, which is borrowed; NO_NAME_CODE: out of memory. */
uint32_t table_names_code(struct table_names *names, struct step_bytes text);
/* The codes of several; false: out of memory. */
bool table_names_codes(struct table_names *names, const char *const *texts, size_t count,
                       uint32_t *codes);
/* The same of a text that is put together of two, with a dot between. */
uint32_t table_names_join(struct table_names *names, struct step_bytes first,
                          struct step_bytes second);

enum tables_kind { TABLES_OF_JAVA, TABLES_OF_HEAP, TABLES_OF_RECORDS };

struct tables {
    char *path;
    struct step_reader *reader;
    const struct step_definition *definition; /* of the reader */
    enum tables_kind kind;
    uint64_t resolution_ns;
    bool has_resolution; /* the trace tells of it */
    struct table_definition *items;
    size_t count, capacity;
    /* Java */
    struct java_records java;
    struct table_names class_names, method_names;
    uint64_t *collections; /* times at which objects were found dead, ascending; when asked for */
    size_t collection_count;
    bool has_collections;
    /* all */
    struct table_names type_names; /* of records; code + 1 is the record's number */
    struct table_names words;      /* of columns with a few texts, by the maker */
    struct step_error damage;      /* that another reader of the file found; status OK: none */
};

/* Codes of names by the numbers of dictionary entries; NO_NAME_CODE: out of memory. */
uint32_t tables_class_code(struct tables *tables, uint64_t class_id);
uint32_t tables_method_code(struct tables *tables, uint64_t method_id);
/* The method's class; 0: not known. */
uint64_t tables_method_class(struct tables *tables, uint64_t method_id);

/* Nanoseconds; beyond 2^64 - 1 that. */
static inline uint64_t tables_time_ns(const struct tables *tables, uint64_t ticks)
{
    return trace_ticks_ns(ticks, tables->resolution_ns);
}

/* Where deaths name the collections that found them. */
struct collected_field {
    uint32_t record;
    uint32_t field;
    size_t slot;
};
/* False: the definition has none. */
bool tables_collected_field(const struct tables *tables, struct collected_field *out);

/* When the frees of a block were found: at their times, or, of those whose time is exact, when they
 * say. */
struct collected_view {
    struct step_column_view times;
    struct step_column_view collected; /* without rows: there is no such field */
};
/* `field` NULL: there is none. */
enum step_status collected_view_set(struct collected_view *view, struct step_block *block,
                                    uint32_t record, size_t time_slot,
                                    const struct collected_field *field, struct step_error *error);
static inline uint64_t collected_view_ticks(const struct collected_view *view, size_t row)
{
    const struct step_column_view *collected = &view->collected;
    if (collected->count > 0 &&
        (collected->validity == NULL || (collected->validity[row / 8] >> (row % 8) & 1) != 0))
        return collected->values[row * collected->step];
    return view->times.values[row * view->times.step];
}

/* Finds out the times of all collections, once. */
enum step_status tables_find_collections(struct tables *tables, struct step_error *error);
/* How many collections were before that time. */
size_t tables_collections_before(const struct tables *tables, uint64_t time_ns);

/* A block that cannot be read is damage, of which the reader keeps note; anything else is a
 * failure. */
static inline bool tables_is_damage(enum step_status status)
{
    return status == STEP_STATUS_CORRUPT || status == STEP_STATUS_CUT ||
           status == STEP_STATUS_UNSUPPORTED || status == STEP_STATUS_LIMIT;
}

#endif
