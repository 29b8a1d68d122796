/* SPDX-License-Identifier: Apache-2.0 */
/* An open trace: the data that all makers of rows use. */
#ifndef ANALYSES_TABLES_TABLES_TRACE_H
#define ANALYSES_TABLES_TABLES_TRACE_H

#include "analyses/tables/table.h"
#include "analyses/tables/table_rows.h"
#include "converter/containers/name_index.h"
#include "converter/files/record_layout.h"
#include "converter/numbers/trace_ticks.h"
#include "converter/step/java_records.h"
#include "converter/trace/sample_weights.h"
#include "format/core/arena.h"

/*
 * Names by the ids in a trace's records.  Dictionaries have no duplicate texts: two classes with
 * the same name, from two loaders, have the same code.
 */

/* No code; also marks names that were not looked up yet. */
#define NO_NAME_CODE UINT32_MAX

struct table_names {
    struct table_dictionary dictionary;
    struct step_bytes *texts; /* the dictionary's texts */
    size_t capacity;
    struct name_index index;  /* 1 + code, by text */
    struct step_arena joined; /* scratch */
    uint32_t *codes;          /* by id; NO_NAME_CODE: not looked up yet */
    size_t code_count;
};

/* Initialises names.  `numbers`: 1 + the largest id. */
enum step_status table_names_init(struct table_names *names, uint64_t numbers,
                                  struct step_error *error);
void table_names_reset(struct table_names *names);

/* Returns the code of a text; NO_NAME_CODE if out of memory. */
uint32_t table_names_code(struct table_names *names, struct step_bytes text);
/* Gets the codes of several texts.  Returns false if out of memory. */
bool table_names_codes(struct table_names *names, const char *const *texts, size_t count,
                       uint32_t *codes);
/* Returns the code of two texts joined by a dot; NO_NAME_CODE if out of memory. */
uint32_t table_names_join(struct table_names *names, struct step_bytes first,
                          struct step_bytes second);

enum tables_kind { TABLES_OF_JAVA, TABLES_OF_HEAP, TABLES_OF_RECORDS };

struct tables {
    char *path;
    struct step_reader *reader;
    const struct step_definition *definition; /* the reader's */
    enum tables_kind kind;
    uint64_t resolution_ns;
    bool has_resolution;            /* the trace specifies it */
    uint64_t sample_interval_bytes; /* of a sampled trace; 0: it has all objects */
    struct table_definition *items;
    size_t count, capacity;
    struct step_arena memory; /* of their columns */
    /* Java traces. */
    struct java_records java;
    struct table_names class_names, method_names;
    uint64_t *collections; /* times of collections, ascending; filled on demand */
    size_t collection_count;
    bool has_collections;
    struct event_source *weighed; /* of a sampled trace, on demand: what `weights` was read from */
    struct sample_weights weights;
    /* All traces. */
    struct table_names type_names; /* record types; code: index in the definition */
    struct table_names words;      /* words of columns with few values, added by makers */
    struct step_error damage;      /* found by another reader of the file; status OK: none */
};

/* Return the code of a class or method name by its id; NO_NAME_CODE if out of memory. */
uint32_t tables_class_code(struct tables *tables, uint64_t class_id);
uint32_t tables_method_code(struct tables *tables, uint64_t method_id);
/* Returns the id of a method's class; 0 if it is unknown. */
uint64_t tables_method_class(struct tables *tables, uint64_t method_id);

/* Put the name of a class or a method; id 0 is null.  Return false if out of memory. */
bool row_put_class(struct table_rows *rows, size_t column, uint64_t class_id);
bool row_put_method(struct table_rows *rows, size_t column, uint64_t method_id);

/* Converts ticks to nanoseconds, saturating at UINT64_MAX. */
static inline uint64_t tables_time_ns(const struct tables *tables, uint64_t ticks)
{
    return trace_ticks_ns(ticks, tables->resolution_ns);
}

/* A field with numbers, of a record type and those that extend it. */
struct table_field {
    uint32_t record;
    uint32_t field;
    size_t slot;
};
/* Finds a field of a record type of Java traces, which is `of` or extends it.  Returns false if the
 * definition has no such field. */
bool tables_field(const struct tables *tables, int record, int of, const char *name,
                  struct table_field *out);
/* Arguments of tables_field(): of deaths, the time of their collection; of samples, the interval
 * where it is not that of the trace. */
#define COLLECTED_FIELD STEP_JAVA_OBJECT_DEATH, STEP_JAVA_OBJECT_FREE, "collected"
#define CLASS_FIELD STEP_JAVA_OBJECT_ALLOC, STEP_JAVA_OBJECT_ALLOC, "class"
#define TIME_FIELD STEP_JAVA_OBJECT_ALLOC, STEP_JAVA_OBJECT_ALLOC, "time"
#define DRAWN_FIELD STEP_JAVA_OBJECT_SAMPLED, STEP_JAVA_OBJECT_ALLOC, "interval"

/* The times at which the frees of a block were found: the time in the field, or else that of the
 * free. */
struct collected_view {
    struct step_column_view times;
    struct step_column_view collected; /* no rows if there is no such field */
};
/* Sets the view of a block.  `field` may be NULL: there is none. */
enum step_status collected_view_set(struct collected_view *view, struct step_block *block,
                                    uint32_t record, size_t time_slot,
                                    const struct table_field *field, struct step_error *error);
static inline uint64_t collected_view_ticks(const struct collected_view *view, size_t row)
{
    const struct step_column_view *collected = &view->collected;
    if (collected->count > 0 &&
        (collected->validity == NULL || (collected->validity[row / 8] >> (row % 8) & 1) != 0))
        return collected->values[row * collected->step];
    return view->times.values[row * view->times.step];
}

/* Of a sampled trace: reads the weights, once. */
enum step_status tables_find_weights(struct tables *tables, struct step_error *error);
/* Determines the times of all collections, once. */
enum step_status tables_find_collections(struct tables *tables, struct step_error *error);
/* Returns the number of collections before a time. */
size_t tables_collections_before(const struct tables *tables, uint64_t time_ns);

/* Returns whether a block's status means damage, which the reader notes; other errors are
 * failures. */
static inline bool tables_is_damage(enum step_status status)
{
    return status == STEP_STATUS_CORRUPT || status == STEP_STATUS_CUT ||
           status == STEP_STATUS_UNSUPPORTED || status == STEP_STATUS_LIMIT;
}

/* Registers the tables of a trace. */

/* Returns the number of records of that type in the block. */
uint64_t block_rows(const struct tables *tables, size_t block, uint32_t record);

/* Adds a table.  Copies its columns and cells, but no texts. */
enum step_status tables_add(struct tables *tables, const struct table_definition *definition,
                            struct step_error *error);

/* Adds the tables of a native program's trace. */
enum step_status heap_tables_add(struct tables *tables, struct step_error *error);

#endif
