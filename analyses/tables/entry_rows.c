/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that are dictionary entries.  Finds an entry by its id without reading the others. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/tables/event_rows.h"
#include "analyses/tables/makers.h"
#include "analyses/tables/tables_trace.h"
#include "converter/containers/id_table.h"
#include "converter/containers/no_memory.h"
#include "converter/step/event_of_record.h"
#include "format/core/grow.h"

#define CLASSES_COLUMNS(X)                                                                         \
    X(CLASSES_ID, "class_id", "", "", TABLE_UINT, false)                                           \
    X(CLASSES_CLASS, "class", "", "name", TABLE_NAME, false)                                       \
    X(CLASSES_LOADER, "loader", "", "number; 0: boot", TABLE_UINT, false)                          \
    X(CLASSES_LOADED, "loaded", "ns", "null: no event says so", TABLE_TIME, true)                  \
    X(CLASSES_EXISTING, "existing", "", "it was there when tracing started", TABLE_BOOL, false)    \
    X(CLASSES_FILE, "file", "", "of its source; empty: not known", TABLE_TEXT, false)
enum { CLASSES_COLUMNS(COLUMN_NUMBER) };
static const struct java_column class_columns[] = {CLASSES_COLUMNS(MADE_COLUMN)};

#define METHODS_COLUMNS(X)                                                                         \
    X(METHODS_ID, "method_id", "", "", TABLE_UINT, false)                                          \
    X(METHODS_METHOD, "method", "", "class and name", TABLE_NAME, false)                           \
    X(METHODS_CLASS, "class", "", "", TABLE_NAME, true)                                            \
    X(METHODS_CLASS_ID, "class_id", "", "number in classes", TABLE_UINT, false)                    \
    X(METHODS_NAME, "name", "", "", TABLE_TEXT, false)                                             \
    X(METHODS_DESCRIPTOR, "descriptor", "", "", TABLE_TEXT, false)                                 \
    X(METHODS_MODIFIERS, "modifiers", "", "access flags", TABLE_UINT, false)
enum { METHODS_COLUMNS(COLUMN_NUMBER) };
static const struct java_column method_columns[] = {METHODS_COLUMNS(MADE_COLUMN)};

#define THREADS_COLUMNS(X)                                                                         \
    X(THREADS_ID, "thread", "", "", TABLE_UINT, false)                                             \
    X(THREADS_NAME, "name", "", "", TABLE_TEXT, false)                                             \
    X(THREADS_NUMBER, "number", "", "as text exports show it", TABLE_UINT, false)                  \
    X(THREADS_DAEMON, "daemon", "", "", TABLE_BOOL, false)                                         \
    X(THREADS_VIRTUAL, "virtual", "", "", TABLE_BOOL, false)                                       \
    X(THREADS_STARTED, "started", "ns", "null: no event says so", TABLE_TIME, true)                \
    X(THREADS_ENDED, "ended", "ns", "null: it ran at the end", TABLE_TIME, true)                   \
    X(THREADS_EXISTING, "existing", "", "it ran when tracing started", TABLE_BOOL, false)
enum { THREADS_COLUMNS(COLUMN_NUMBER) };
static const struct java_column thread_columns[] = {THREADS_COLUMNS(MADE_COLUMN)};

#define SITES_COLUMNS(X)                                                                           \
    X(SITES_ID, "site", "", "a frame of the tree of call stacks", TABLE_UINT, false)               \
    X(SITES_PARENT, "parent", "", "the frame that called it; null: outermost", TABLE_UINT, true)   \
    X(SITES_METHOD, "method", "", "", TABLE_NAME, true)                                            \
    X(SITES_CLASS, "class", "", "of the method", TABLE_NAME, true)                                 \
    X(SITES_METHOD_ID, "method_id", "", "number in methods", TABLE_UINT, false)                    \
    X(SITES_LINE, "line", "", "of the source", TABLE_UINT, true)                                   \
    X(SITES_BYTECODE, "bytecode", "", "index, where the line is not known", TABLE_UINT, true)      \
    X(SITES_DEPTH, "depth", "", "1: outermost", TABLE_UINT, false)                                 \
    X(SITES_STACK, "stack", "", "all of it, innermost first", TABLE_TEXT, false)
enum { SITES_COLUMNS(COLUMN_NUMBER) };
static const struct java_column site_columns[] = {SITES_COLUMNS(MADE_COLUMN)};

/* Times of entries, from the events that say them. */
struct entry_time {
    uint64_t begin_ns;
    uint64_t end_ns;
    bool has_begin, has_end;
    bool is_existing;
};

/* Uses the first begin and the last end. */
static bool note_time(struct id_table *times, const struct trace_event *event)
{
    bool is_class = event->kind == EVENT_CLASS_LOAD;
    struct entry_time *time = id_table_get(times, is_class ? event->class_id : event->thread_id);
    if (time == NULL)
        return false;
    if (event->kind == EVENT_THREAD_END) {
        time->end_ns = event->time_ns;
        time->has_end = true;
    } else if (!time->has_begin) {
        time->begin_ns = event->time_ns;
        time->has_begin = true;
        time->is_existing = (event->flags & TRACE_EXISTING) != 0;
    }
    return true;
}

static enum step_status read_times(struct id_table *times, struct tables *tables, uint32_t kinds,
                                   struct step_error *error)
{
    const struct trace_event *event;
    struct event_feed *feed = calloc(1, sizeof *feed);
    if (feed == NULL)
        return no_memory(error);
    enum step_status status = event_feed_open_weighed(feed, tables, kinds, error);
    while (status == STEP_STATUS_OK &&
           (status = event_feed_next(feed, tables, &event, error)) == STEP_STATUS_OK)
        if (!note_time(times, event))
            status = no_memory(error);
    event_feed_close(feed);
    free(feed);
    return status == STEP_STATUS_END ? STEP_STATUS_OK : status;
}

enum { STACK_MOST = 1024, NAME_MOST = 256 };
/* Limits: bytes of a stack's text, which is cut with "..."; bytes of all texts in a batch; and
 * the number of entries with cached depths. */
enum { STACK_BYTES = 1 << 18, BATCH_BYTES = 16 << 20, DEPTHS_MOST = 16 << 20 };

struct entry_rows;
typedef bool (*put_entry)(struct entry_rows *rows, uint64_t id);

struct entry_rows {
    struct table_rows base;
    put_entry put;
    struct id_table times; /* struct entry_time, of classes and threads */
    uint64_t last;         /* the last entry returned */
    uint64_t end;          /* the last entry that may be wanted */
    void **texts;          /* of the current batch */
    size_t text_count;
    size_t text_bytes;
    uint32_t *depths; /* by entry; 0: not computed yet */
    size_t depth_count;
};

/* ---- rows ---- */

/* Returns the times of an entry, which may be unknown; never NULL. */
static const struct entry_time *times_of(const struct entry_rows *rows, uint64_t id)
{
    static const struct entry_time nothing;
    const struct entry_time *time =
        id < UINT32_MAX ? id_table_find(&rows->times, (uint32_t) id) : NULL;
    return time != NULL ? time : &nothing;
}

static bool entry_rows_put_class(struct entry_rows *rows, uint64_t id)
{
    struct row_builder *builder = &rows->base.builder;
    struct tables *tables = rows->base.tables;
    struct step_java_class entry;
    const struct entry_time *time = times_of(rows, id);
    if (!java_class(&tables->java, id, &entry))
        return true;
    row_put(builder, CLASSES_ID, id, false);
    row_put(builder, CLASSES_LOADER, entry.loader, false);
    row_put(builder, CLASSES_LOADED, time->begin_ns, !time->has_begin);
    row_put_flag(builder, CLASSES_EXISTING, time->is_existing);
    struct step_bytes file = java_source(&tables->java, id)->file;
    row_put_text(builder, CLASSES_FILE, file.length > 0 ? file : step_text(""));
    bool good = row_put_class(&rows->base, CLASSES_CLASS, id);
    row_builder_end_row(builder);
    return good;
}

static bool entry_rows_put_method(struct entry_rows *rows, uint64_t id)
{
    struct row_builder *builder = &rows->base.builder;
    struct tables *tables = rows->base.tables;
    struct step_java_method entry;
    if (!java_method(&tables->java, id, &entry))
        return true;
    row_put(builder, METHODS_ID, id, false);
    row_put(builder, METHODS_CLASS_ID, entry.class_, false);
    row_put_text(builder, METHODS_NAME, entry.name);
    row_put_text(builder, METHODS_DESCRIPTOR, entry.descriptor);
    row_put(builder, METHODS_MODIFIERS, entry.modifiers, false);
    bool good = row_put_method(&rows->base, METHODS_METHOD, id) &&
                row_put_class(&rows->base, METHODS_CLASS, entry.class_);
    row_builder_end_row(builder);
    return good;
}

static bool entry_rows_put_thread(struct entry_rows *rows, uint64_t id)
{
    struct row_builder *builder = &rows->base.builder;
    struct tables *tables = rows->base.tables;
    struct step_java_thread entry;
    const struct entry_time *time = times_of(rows, id);
    uint64_t number;
    if (!java_thread(&tables->java, id, &entry, &number))
        return true;
    row_put(builder, THREADS_ID, id, false);
    row_put_text(builder, THREADS_NAME, entry.name);
    row_put(builder, THREADS_NUMBER, number, false);
    row_put_flag(builder, THREADS_DAEMON, (entry.flags & TRACE_THREAD_DAEMON) != 0);
    row_put_flag(builder, THREADS_VIRTUAL, (entry.flags & TRACE_THREAD_VIRTUAL) != 0);
    row_put(builder, THREADS_STARTED, time->begin_ns, !time->has_begin);
    row_put(builder, THREADS_ENDED, time->end_ns, !time->has_end);
    row_put_flag(builder, THREADS_EXISTING, time->is_existing);
    row_builder_end_row(builder);
    return true;
}

static void keep_depth(struct entry_rows *rows, uint64_t id, uint64_t depth)
{
    if (id >= DEPTHS_MOST || depth > UINT32_MAX ||
        !STEP_MAKE_ZEROED_ROOM(rows->depths, rows->depth_count, id + 1))
        return; /* not cached */
    rows->depths[id] = (uint32_t) depth;
}

/* Caches depths.  As parents precede their children, each frame of a deep stack is counted once. */
static uint64_t depth_of(struct entry_rows *rows, uint64_t id, struct step_java_frame frame)
{
    uint64_t depth = 1;
    while (frame.parent != 0) {
        uint64_t parent = frame.parent;
        if (parent < rows->depth_count && rows->depths[parent] != 0) {
            depth += rows->depths[parent];
            break;
        }
        if (!java_frame(&rows->base.tables->java, parent, &frame))
            break;
        depth++;
    }
    keep_depth(rows, id, depth);
    return depth;
}

static void entry_rows_put_place(struct frame_place place, FILE *out)
{
    bool has_file = place.file.length > 0;
    if (has_file) {
        fputc('(', out);
        fwrite(place.file.data, 1, place.file.length, out);
    }
    fprintf(out, ":%" PRIu64 "%s", place.line, has_file ? ")" : "");
}

/* Returns "java/util/HashMap.resize(HashMap.java:702) <- java/util/HashMap.put:612": with the file
 * where it is known. */
static char *entry_rows_stack_of(struct entry_rows *rows, struct step_java_frame frame,
                                 size_t *length)
{
    struct tables *tables = rows->base.tables;
    char *text = NULL;
    FILE *memory = open_memstream(&text, length);
    bool has_more = true;
    if (memory == NULL)
        return NULL;
    for (unsigned i = 0; has_more && i < STACK_MOST; i++) {
        uint32_t code = tables_method_code(tables, frame.method);
        struct step_bytes name =
            code != NO_NAME_CODE ? tables->method_names.texts[code] : step_text("?");
        fputs(i > 0 ? " <- " : "", memory);
        if (ftell(memory) + (long) (name.length < STACK_BYTES ? name.length : STACK_BYTES) >
            STACK_BYTES) {
            fputs("...", memory);
            break;
        }
        fwrite(name.data, 1, name.length, memory); /* it may contain a NUL */
        if (frame.line != 0)
            entry_rows_put_place(
                java_place(&tables->java, tables_method_class(tables, frame.method), &frame),
                memory);
        has_more = frame.parent != 0 && java_frame(&rows->base.tables->java, frame.parent, &frame);
    }
    if (fclose(memory) == 0)
        return text;
    free(text);
    return NULL;
}

static bool entry_rows_put_stack(struct entry_rows *rows, const struct step_java_frame *frame)
{
    size_t length;
    if (rows->base.builder.values[SITES_STACK] == NULL)
        return true;
    char *text = entry_rows_stack_of(rows, *frame, &length);
    if (text == NULL)
        return false;
    rows->texts[rows->text_count++] = text;
    rows->text_bytes += length;
    row_put_text(&rows->base.builder, SITES_STACK, (struct step_bytes){(uint8_t *) text, length});
    return true;
}

static bool entry_rows_put_site(struct entry_rows *rows, uint64_t id)
{
    struct row_builder *builder = &rows->base.builder;
    struct step_java_frame frame;
    if (!java_frame(&rows->base.tables->java, id, &frame))
        return true;
    row_put(builder, SITES_ID, id, false);
    row_put(builder, SITES_PARENT, frame.parent, frame.parent == 0);
    row_put(builder, SITES_METHOD_ID, frame.method, false);
    row_put(builder, SITES_LINE, frame.line, frame.line == 0);
    row_put(builder, SITES_BYTECODE, frame.bytecode - 1, frame.bytecode == 0);
    if (builder->values[SITES_DEPTH] != NULL)
        row_put(builder, SITES_DEPTH, depth_of(rows, id, frame), false);
    bool good = row_put_method(&rows->base, SITES_METHOD, frame.method) &&
                row_put_class(&rows->base, SITES_CLASS,
                              tables_method_class(rows->base.tables, frame.method)) &&
                entry_rows_put_stack(rows, &frame);
    row_builder_end_row(builder);
    return good;
}

static void free_texts(struct entry_rows *rows)
{
    for (; rows->text_count > 0; rows->text_count--)
        free(rows->texts[rows->text_count - 1]);
    rows->text_bytes = 0;
}

static enum step_status entry_rows_step(struct table_rows *base, bool *has_more,
                                        struct step_error *error)
{
    struct entry_rows *rows = (struct entry_rows *) base;
    if (base->builder.count == 0)
        free_texts(rows);
    uint64_t id = rows->last < rows->end
                      ? step_reader_dictionary_next(base->tables->reader,
                                                    base->request->table->record, rows->last)
                      : 0;
    if (id == 0 || id > rows->end) {
        rows->last = rows->end;
        *has_more = false;
        return STEP_STATUS_OK;
    }
    rows->last = id;
    if (!rows->put(rows, id))
        return no_memory(error);
    *has_more = rows->text_bytes < BATCH_BYTES;
    return STEP_STATUS_OK;
}

/* ---- life cycle ---- */

static enum step_status restart(struct table_rows *base, struct step_error *error)
{
    struct entry_rows *rows = (struct entry_rows *) base;
    uint64_t least;
    (void) error;
    if (!row_filter_range(&base->request->filter, 0, &least, &rows->end))
        rows->end = 0;
    rows->last = least > 0 ? least - 1 : 0;
    return STEP_STATUS_OK;
}

static void entry_rows_reset(struct table_rows *base)
{
    struct entry_rows *rows = (struct entry_rows *) base;
    free_texts(rows);
    free(rows->texts);
    free(rows->depths);
    id_table_reset(&rows->times);
}

static put_entry putter_of(const struct tables *tables, uint32_t record)
{
    return record == java_record_of(&tables->java, STEP_JAVA_CLASS)    ? entry_rows_put_class
           : record == java_record_of(&tables->java, STEP_JAVA_METHOD) ? entry_rows_put_method
           : record == java_record_of(&tables->java, STEP_JAVA_THREAD) ? entry_rows_put_thread
                                                                       : entry_rows_put_site;
}

static enum step_status entry_rows_open(struct table_rows *base, struct step_error *error)
{
    struct entry_rows *rows = (struct entry_rows *) base;
    struct tables *tables = base->tables;
    const struct table_request *request = base->request;
    enum step_status status = STEP_STATUS_OK;
    rows->put = putter_of(tables, request->table->record);
    id_table_init(&rows->times, sizeof(struct entry_time));
    if (rows->put == entry_rows_put_site && request->needed[SITES_STACK] != 0) {
        rows->texts = calloc(request->batch_rows + 1, sizeof *rows->texts);
        if (rows->texts == NULL)
            return no_memory(error);
    }
    if (rows->put == entry_rows_put_class &&
        (request->needed[CLASSES_LOADED] != 0 || request->needed[CLASSES_EXISTING] != 0))
        status = read_times(&rows->times, tables, TRACE_KIND_BIT(EVENT_CLASS_LOAD), error);
    if (rows->put == entry_rows_put_thread &&
        (request->needed[THREADS_STARTED] != 0 || request->needed[THREADS_ENDED] != 0 ||
         request->needed[THREADS_EXISTING] != 0))
        status = read_times(&rows->times, tables,
                            TRACE_KIND_BIT(EVENT_THREAD_BEGIN) | TRACE_KIND_BIT(EVENT_THREAD_END),
                            error);
    return status == STEP_STATUS_OK ? restart(base, error) : status;
}

static const struct table_rows_operations rows_of_entries = {.size_bytes =
                                                                 sizeof(struct entry_rows),
                                                             .open = entry_rows_open,
                                                             .step = entry_rows_step,
                                                             .restart = restart,
                                                             .reset = entry_rows_reset};

#define ENTRY_TABLE(name, doc, columns, record, ...)                                               \
    {                                                                                              \
        name, doc, COLUMNS(columns), &rows_of_entries, ROWS_OF_DICTIONARY, record, false,          \
            __VA_ARGS__                                                                            \
    }

const struct java_table classes_table =
    ENTRY_TABLE("classes", "all classes", class_columns, STEP_JAVA_CLASS, BY_ANY);

const struct java_table methods_table =
    ENTRY_TABLE("methods", "all methods", method_columns, STEP_JAVA_METHOD, STEP_JAVA_METHOD,
                "methods (the agent's options events=method and stack=16)");

const struct java_table threads_table =
    ENTRY_TABLE("threads", "all threads", thread_columns, STEP_JAVA_THREAD, BY_ANY);

const struct java_table sites_table =
    ENTRY_TABLE("sites", "all frames of call stacks", site_columns, STEP_JAVA_FRAME,
                STEP_JAVA_FRAME, "call stacks (the agent's option stack=16)");
