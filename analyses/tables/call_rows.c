/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table `calls`: pairs entries and exits per thread.  A call becomes a row when it ends.  An
 * exit ends its own call and those nested in it; an exit without an entry is ignored.
 */
#include <stdlib.h>

#include "analyses/tables/event_rows.h"
#include "analyses/tables/makers.h"
#include "converter/containers/no_memory.h"
#include "converter/trace/call_stack.h"
#include "format/core/grow.h"

#define CALLS_COLUMNS(X)                                                                           \
    X(CALLS_CALL, "call", "", "number, rising in the order of entries", TABLE_UINT, false)         \
    X(CALLS_PARENT, "parent", "", "the call that made it", TABLE_UINT, true)                       \
    X(CALLS_THREAD, "thread", "", "", TABLE_UINT, false)                                           \
    X(CALLS_METHOD, "method", "", "", TABLE_NAME, true)                                            \
    X(CALLS_CLASS, "class", "", "of the method", TABLE_NAME, true)                                 \
    X(CALLS_METHOD_ID, "method_id", "", "number in methods", TABLE_UINT, false)                    \
    X(CALLS_OBJECT, "object", "", "`this`; null in a static method", TABLE_UINT, true)             \
    X(CALLS_DEPTH, "depth", "", "0: outermost", TABLE_UINT, false)                                 \
    X(CALLS_ENTRY, "entry", "ns", "", TABLE_TIME, false)                                           \
    X(CALLS_EXIT, "exit", "ns", "null: it was open at the end", TABLE_TIME, true)                  \
    X(CALLS_DURATION, "duration", "ns", "", TABLE_DURATION, true)                                  \
    X(CALLS_SELF, "self", "ns", "without the calls that it made", TABLE_DURATION, true)            \
    X(CALLS_ENDED, "ended", "", "return, exception, left, open", TABLE_NAME, false)
enum { CALLS_COLUMNS(COLUMN_NUMBER) };
static const struct java_column columns[] = {CALLS_COLUMNS(MADE_COLUMN)};

enum ended { BY_RETURN, BY_EXCEPTION, BY_LEAVING, AT_END, ENDED_COUNT };

/* Data of a call in addition to its frame. */
struct open_call {
    uint64_t number;
    uint64_t object;
};

struct thread_calls {
    struct call_stack stack;
    struct open_call *open; /* parallel to the stack */
    size_t capacity;
};

struct call_rows {
    struct table_rows base;
    uint32_t words[ENDED_COUNT];
    struct event_feed feed;
    struct id_table threads; /* struct thread_calls */
    uint64_t calls;          /* number of calls so far */
    /* Calls that the current event ends, possibly across batches. */
    uint32_t closing_thread;
    size_t closing_depth; /* calls to keep */
    uint64_t closing_ns;
    enum ended closing_last, closing_inner;
    bool is_closing;
    bool at_end;
    uint32_t next_thread; /* while ending calls at the end of the trace */
};

static struct thread_calls *calls_of(struct call_rows *rows, uint32_t thread)
{
    return id_table_get(&rows->threads, thread);
}

static bool call_rows_enter(struct call_rows *rows, const struct trace_event *event)
{
    struct thread_calls *calls = calls_of(rows, event->thread_id);
    const struct call_frame frame = {.method_id = event->method_id, .entered_ns = event->time_ns};
    if (calls == NULL || !call_stack_push(&calls->stack, &frame))
        return false;
    if (!STEP_MAKE_ROOM(calls->open, calls->capacity, calls->stack.depth))
        return false;
    calls->open[calls->stack.depth - 1] = (struct open_call){++rows->calls, event->object};
    return true;
}

/* Ends the innermost call and adds its row. */
static bool call_rows_put(struct call_rows *rows, struct thread_calls *calls, enum ended ended)
{
    struct row_builder *builder = &rows->base.builder;
    const struct call_frame frame = *call_stack_pop(&calls->stack);
    size_t depth = calls->stack.depth;
    const struct open_call *open = &calls->open[depth];
    uint64_t took = rows->closing_ns > frame.entered_ns ? rows->closing_ns - frame.entered_ns : 0;
    bool is_open = ended == AT_END;
    if (depth > 0)
        calls->stack.frames[depth - 1].inner_ns += took;
    row_put(builder, CALLS_CALL, open->number, false);
    row_put(builder, CALLS_PARENT, depth > 0 ? open[-1].number : 0, depth == 0);
    row_put(builder, CALLS_THREAD, rows->closing_thread, false);
    row_put(builder, CALLS_METHOD_ID, frame.method_id, false);
    row_put(builder, CALLS_OBJECT, open->object, open->object == 0);
    row_put(builder, CALLS_DEPTH, depth, false);
    row_put(builder, CALLS_ENTRY, frame.entered_ns, false);
    row_put(builder, CALLS_EXIT, rows->closing_ns, is_open);
    row_put(builder, CALLS_DURATION, took, is_open);
    row_put(builder, CALLS_SELF, took > frame.inner_ns ? took - frame.inner_ns : 0, is_open);
    row_put_code(builder, CALLS_ENDED, rows->words[ended], false);
    bool good = row_put_method(&rows->base, CALLS_METHOD, frame.method_id) &&
                row_put_class(&rows->base, CALLS_CLASS,
                              tables_method_class(rows->base.tables, frame.method_id));
    row_builder_end_row(builder);
    return good;
}

/* Ends the calls that the last event ends, while the batch has room. */
static bool call_rows_close(struct call_rows *rows)
{
    struct thread_calls *calls = calls_of(rows, rows->closing_thread);
    while (calls->stack.depth > rows->closing_depth && !row_builder_is_full(&rows->base.builder)) {
        bool is_last = calls->stack.depth == rows->closing_depth + 1;
        if (!call_rows_put(rows, calls, is_last ? rows->closing_last : rows->closing_inner))
            return false;
    }
    rows->is_closing = calls->stack.depth > rows->closing_depth;
    return true;
}

static bool call_rows_leave(struct call_rows *rows, const struct trace_event *event)
{
    struct thread_calls *calls = calls_of(rows, event->thread_id);
    if (calls == NULL)
        return false;
    size_t depth = call_stack_find(&calls->stack, event->method_id);
    if (depth == 0)
        return true;
    rows->is_closing = true;
    rows->closing_thread = event->thread_id;
    rows->closing_depth = depth - 1;
    rows->closing_ns = event->time_ns;
    rows->closing_last = event->kind == EVENT_METHOD_POP ? BY_EXCEPTION : BY_RETURN;
    rows->closing_inner = BY_LEAVING;
    return call_rows_close(rows);
}

/* Selects the next thread with open calls.  Returns false if there is none. */
static bool close_thread(struct call_rows *rows)
{
    const struct thread_calls *calls;
    for (; (calls = id_table_next(&rows->threads, &rows->next_thread)) != NULL;
         rows->next_thread++) {
        if (calls->stack.depth == 0)
            continue;
        rows->is_closing = true;
        rows->closing_thread = rows->next_thread;
        rows->closing_depth = 0;
        rows->closing_last = rows->closing_inner = AT_END;
        return true;
    }
    return false;
}

static enum step_status call_rows_step(struct table_rows *base, bool *has_more,
                                       struct step_error *error)
{
    struct call_rows *rows = (struct call_rows *) base;
    const struct trace_event *event;
    if (rows->is_closing)
        return call_rows_close(rows) ? STEP_STATUS_OK : no_memory(error);
    if (rows->at_end) {
        *has_more = close_thread(rows);
        return STEP_STATUS_OK;
    }
    enum step_status status = event_feed_next(&rows->feed, rows->base.tables, &event, error);
    rows->at_end = status == STEP_STATUS_END;
    if (status != STEP_STATUS_OK)
        return rows->at_end ? STEP_STATUS_OK : status;
    bool good = event->kind == EVENT_METHOD_ENTRY ? call_rows_enter(rows, event)
                                                  : call_rows_leave(rows, event);
    return good ? STEP_STATUS_OK : no_memory(error);
}

static void call_rows_reset(struct table_rows *base)
{
    struct call_rows *rows = (struct call_rows *) base;
    struct thread_calls *calls;
    for (uint32_t i = 0; (calls = id_table_next(&rows->threads, &i)) != NULL; i++) {
        call_stack_reset(&calls->stack);
        free(calls->open);
    }
    id_table_reset(&rows->threads);
    event_feed_close(&rows->feed);
}

static enum step_status call_rows_open(struct table_rows *base, struct step_error *error)
{
    static const char *const words[ENDED_COUNT] = {"return", "exception", "left", "open"};
    struct call_rows *rows = (struct call_rows *) base;
    id_table_init(&rows->threads, sizeof(struct thread_calls));
    if (!table_names_codes(&base->tables->words, words, ENDED_COUNT, rows->words))
        return no_memory(error);
    return event_feed_open(&rows->feed, base->tables,
                           TRACE_KIND_BIT(EVENT_METHOD_ENTRY) | TRACE_KIND_BIT(EVENT_METHOD_EXIT) |
                               TRACE_KIND_BIT(EVENT_METHOD_POP),
                           true, error);
}

static const struct table_rows_operations rows_of_calls = {.size_bytes = sizeof(struct call_rows),
                                                           .open = call_rows_open,
                                                           .step = call_rows_step,
                                                           .reset = call_rows_reset};

const struct java_table calls_table =
    MADE_TABLE("calls", "one row per call", columns, rows_of_calls, false, STEP_JAVA_METHOD_ENTRY,
               "method events (the agent's option events=method)");
