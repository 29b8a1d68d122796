/* SPDX-License-Identifier: Apache-2.0 */
/* Constructors of row makers, and the column numbers of their tables. */
#ifndef CONVERTER_TABLES_MAKERS_H
#define CONVERTER_TABLES_MAKERS_H

#include "converter/tables/row_builder.h"
#include "converter/tables/tables_trace.h"
#include "converter/trace/level_curve.h"

/* Each creates the rows for a wish.  The tables and the wish must outlive them. */
enum step_status record_rows_create(struct tables *tables, const struct table_request *request,
                                    struct table_rows **out, struct step_error *error);
enum step_status object_rows_create(struct tables *tables, const struct table_request *request,
                                    struct table_rows **out, struct step_error *error);
enum step_status entry_rows_create(struct tables *tables, const struct table_request *request,
                                   struct table_rows **out, struct step_error *error);
enum step_status call_rows_create(struct tables *tables, const struct table_request *request,
                                  struct table_rows **out, struct step_error *error);
enum step_status level_rows_create(struct tables *tables, const struct table_request *request,
                                   struct table_rows **out, struct step_error *error);
enum step_status phase_rows_create(struct tables *tables, const struct table_request *request,
                                   struct table_rows **out, struct step_error *error);
enum step_status site_rows_create(struct tables *tables, const struct table_request *request,
                                  struct table_rows **out, struct step_error *error);
enum step_status heap_rows_create(struct tables *tables, const struct table_request *request,
                                  struct table_rows **out, struct step_error *error);

/* Puts step `i` of a curve as a row of a table `live`, with an end not after the trace's
 * (level_rows.c). */
void live_rows_put_step(struct row_builder *builder, const struct level_curve *curve, size_t i,
                        uint64_t last_ns);

/* Columns that are not fields of one record, in the order of java_tables.c and heap_tables.c. */
enum {
    OBJECTS_OBJECT,
    OBJECTS_CLASS,
    OBJECTS_CLASS_ID,
    OBJECTS_THREAD,
    OBJECTS_SITE,
    OBJECTS_SIZE,
    OBJECTS_BORN,
    OBJECTS_DIED,
    OBJECTS_ALIVE,
    OBJECTS_SURVIVED,
    OBJECTS_EXISTING,
    OBJECTS_WEIGHT, /* of sampled traces: tables of others end before it */
    OBJECTS_LIFE_WEIGHT,
    OBJECTS_COLUMNS
};
enum {
    CALLS_CALL,
    CALLS_PARENT,
    CALLS_THREAD,
    CALLS_METHOD,
    CALLS_CLASS,
    CALLS_METHOD_ID,
    CALLS_OBJECT,
    CALLS_DEPTH,
    CALLS_ENTRY,
    CALLS_EXIT,
    CALLS_DURATION,
    CALLS_SELF,
    CALLS_ENDED
};
enum { CLASSES_ID, CLASSES_CLASS, CLASSES_LOADER, CLASSES_LOADED, CLASSES_EXISTING, CLASSES_FILE };
enum {
    METHODS_ID,
    METHODS_METHOD,
    METHODS_CLASS,
    METHODS_CLASS_ID,
    METHODS_NAME,
    METHODS_DESCRIPTOR,
    METHODS_MODIFIERS
};
enum {
    THREADS_ID,
    THREADS_NAME,
    THREADS_NUMBER,
    THREADS_DAEMON,
    THREADS_VIRTUAL,
    THREADS_STARTED,
    THREADS_ENDED,
    THREADS_EXISTING
};
enum {
    SITES_ID,
    SITES_PARENT,
    SITES_METHOD,
    SITES_CLASS,
    SITES_METHOD_ID,
    SITES_LINE,
    SITES_BYTECODE,
    SITES_DEPTH,
    SITES_STACK
};
enum {
    COLLECTIONS_ID,
    COLLECTIONS_TIME,
    COLLECTIONS_FREED_OBJECTS,
    COLLECTIONS_FREED_BYTES,
    COLLECTIONS_LIVE_OBJECTS,
    COLLECTIONS_LIVE_BYTES
};
enum {
    PHASES_PHASE,
    PHASES_PROGRAM,
    PHASES_THREAD,
    PHASES_DEPTH,
    PHASES_STARTED,
    PHASES_ENDED,
    PHASES_DURATION
};
enum {
    LIFETIMES_CLASS,
    LIFETIMES_CLASS_ID,
    LIFETIMES_SITE,
    LIFETIMES_OBJECTS,
    LIFETIMES_BYTES,
    LIFETIMES_DEAD_OBJECTS,
    LIFETIMES_DEAD_BYTES,
    LIFETIMES_OLD_OBJECTS,
    LIFETIMES_OLD_BYTES,
    LIFETIMES_MOST_LIVING,
    LIFETIMES_MEANING,
    LIFETIMES_P10_BYTES,
    LIFETIMES_P50_BYTES,
    LIFETIMES_P90_BYTES,
    LIFETIMES_P99_BYTES,
    LIFETIMES_P50_TIME,
    LIFETIMES_P90_TIME
};
enum {
    ADVICE_WORD,
    ADVICE_CLASS,
    ADVICE_CLASS_ID,
    ADVICE_SITE,
    ADVICE_BYTES,
    ADVICE_OBJECTS,
    ADVICE_SITE_OBJECTS,
    ADVICE_IS_ESTIMATE
};
enum { LIVE_TIME, LIVE_STEP, LIVE_OBJECTS, LIVE_BYTES, LIVE_MOST_BYTES };
enum {
    HEAP_ALLOC_TIME,
    HEAP_ALLOC_THREAD,
    HEAP_ALLOC_OBJECT,
    HEAP_ALLOC_ADDRESS,
    HEAP_ALLOC_SIZE,
    HEAP_ALLOC_HEAP
};
enum { HEAP_FREE_TIME, HEAP_FREE_THREAD, HEAP_FREE_OBJECT, HEAP_FREE_ADDRESS, HEAP_FREE_HEAP };
enum {
    HEAP_REALLOC_TIME,
    HEAP_REALLOC_THREAD,
    HEAP_REALLOC_OBJECT,
    HEAP_REALLOC_ADDRESS,
    HEAP_REALLOC_NEW_ADDRESS,
    HEAP_REALLOC_SIZE,
    HEAP_REALLOC_OLD_SIZE,
    HEAP_REALLOC_HEAP,
    HEAP_REALLOC_KIND
};
enum {
    HEAP_OBJECT_OBJECT,
    HEAP_OBJECT_THREAD,
    HEAP_OBJECT_HEAP,
    HEAP_OBJECT_ADDRESS,
    HEAP_OBJECT_SIZE,
    HEAP_OBJECT_BORN,
    HEAP_OBJECT_DIED,
    HEAP_OBJECT_ALIVE,
    HEAP_OBJECT_MOVED
};

#endif
