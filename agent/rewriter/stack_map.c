/* SPDX-License-Identifier: Apache-2.0 */
/* The StackMapTable: its frames at their new places, and one for the unwinding handler. */
#include "agent/rewriter/method_code.h"

#include "agent/rewriter/frame_list.h"
#include "agent/rewriter/stack_map.h"

enum { TYPE_OBJECT = 7, TYPE_UNINITIALIZED = 8 };

/* The bytes of `count` types; NULL: they leave the table or are none. */
static const uint8_t *skip_types(const uint8_t *at, const uint8_t *end, uint32_t count)
{
    for (; count > 0; count--) {
        if (at == end || at[0] > TYPE_UNINITIALIZED)
            return NULL;
        size_t size = at[0] >= TYPE_OBJECT ? 3 : 1;
        if ((size_t) (end - at) < size)
            return NULL;
        at += size;
    }
    return at;
}

/* The types of a frame whose head has been read. */
static bool read_types(struct map_frame *frame, const uint8_t **at, const uint8_t *end)
{
    bool full = frame->kind == FRAME_FULL;
    frame->locals = *at;
    if (full) {
        if (end - *at < 2)
            return false;
        frame->local_count = load_u2(*at);
        frame->locals += 2;
    }
    frame->stack = skip_types(frame->locals, end, frame->local_count);
    if (frame->stack == NULL)
        return false;
    if (full) {
        if (end - frame->stack < 2)
            return false;
        frame->stack_count = load_u2(frame->stack);
        frame->stack += 2;
    }
    *at = skip_types(frame->stack, end, frame->stack_count);
    return *at != NULL;
}

bool map_reader_next(struct map_reader *reader, struct map_frame *frame)
{
    const uint8_t *at = reader->at;
    uint32_t delta;
    if (reader->left == 0)
        return false;
    *frame = (struct map_frame){0};
    reader->fault = at;
    if (at == reader->end)
        return false;
    frame->kind = *at++;
    if (frame->kind < FRAME_FIRST_LONG) {
        delta = frame->kind & 63;
        frame->stack_count = frame->kind >= 64;
        frame->kind = frame->kind >= 64 ? FRAME_ONE_STACK : FRAME_SAME;
    } else {
        if (frame->kind < FRAME_ONE_STACK || reader->end - at < 2)
            return false;
        delta = load_u2(at);
        at += 2;
        frame->stack_count = frame->kind == FRAME_ONE_STACK;
        frame->local_count = frame->kind > FRAME_SAME && frame->kind < FRAME_FULL
                                 ? frame->kind - (uint32_t) FRAME_SAME
                                 : 0;
    }
    if (!read_types(frame, &at, reader->end))
        return false;
    frame->offset = reader->next + delta;
    reader->next = frame->offset + 1;
    reader->at = at;
    reader->left--;
    reader->fault = NULL;
    return frame->offset < reader->length;
}

bool map_reader_open(struct map_reader *reader, const struct method_code *method)
{
    *reader = (struct map_reader){.at = method->frames, .end = method->frames_end};
    if (method->frames_end - method->frames < 2)
        return false;
    reader->left = load_u2(method->frames);
    reader->at += 2;
    reader->length = method->length;
    return true;
}

bool map_reader_fault(struct map_reader *reader, struct method_code *method)
{
    const uint8_t *at = reader->fault != NULL ? reader->fault : reader->at;
    return class_malformed(method->file, at, "a frame of the stack map is none");
}

/* Whether all frames were read. */
static bool reader_done(const struct map_reader *reader)
{
    return reader->left == 0 && reader->fault == NULL && reader->next <= reader->length;
}

bool stack_map_visit(struct method_code *method,
                     void (*visit)(struct method_code *method, uint32_t offset))
{
    struct map_reader reader;
    struct map_frame frame;
    if (!map_reader_open(&reader, method))
        return map_reader_fault(&reader, method);
    while (map_reader_next(&reader, &frame)) {
        if ((method->marks[frame.offset] & MARK_START) != 0)
            visit(method, frame.offset);
    }
    return reader_done(&reader) || map_reader_fault(&reader, method);
}

bool stack_map_put_types(struct method_code *method, const uint8_t *types, uint32_t count)
{
    struct class_output *output = &method->file->output;
    for (; count > 0; count--) {
        uint32_t size = types[0] >= TYPE_OBJECT ? 3 : 1;
        put_bytes(output, types, size);
        if (types[0] == TYPE_UNINITIALIZED) {
            uint32_t offset = load_u2(types + 1);
            if (offset >= method->length || (method->marks[offset] & MARK_START) == 0)
                return class_malformed(method->file, types, "an uninitialised type of no `new`");
            patch_u2(output, output->used - 2, instruction_place(method, offset));
        }
        types += size;
    }
    return true;
}

void stack_map_put_head(struct class_output *output, uint32_t kind, uint32_t delta)
{
    if (delta < 64 && (kind == FRAME_SAME || kind == FRAME_ONE_STACK)) {
        put_u1(output, delta + (kind == FRAME_ONE_STACK ? 64 : 0));
        return;
    }
    put_u1(output, kind);
    put_u2(output, delta);
}

static bool put_frame(struct method_code *method, const struct map_frame *frame, uint32_t delta)
{
    struct class_output *output = &method->file->output;
    stack_map_put_head(output, frame->kind, delta);
    if (frame->kind == FRAME_FULL)
        put_u2(output, frame->local_count);
    if (!stack_map_put_types(method, frame->locals, frame->local_count))
        return false;
    if (frame->kind == FRAME_FULL)
        put_u2(output, frame->stack_count);
    return stack_map_put_types(method, frame->stack, frame->stack_count);
}

/* The frames as they are, each at its new place; *next: one more than the last one's. */
static bool put_frames(struct method_code *method, uint32_t *next)
{
    struct map_reader reader;
    struct map_frame frame;
    if (!map_reader_open(&reader, method))
        return map_reader_fault(&reader, method);
    while (map_reader_next(&reader, &frame)) {
        if ((method->marks[frame.offset] & MARK_START) == 0)
            return map_reader_fault(&reader, method);
        uint32_t place = method->map[frame.offset];
        if (!put_frame(method, &frame, place - *next))
            return false;
        *next = place + 1;
    }
    return reader_done(&reader) || map_reader_fault(&reader, method);
}

static void put_throwables(struct class_output *output, uint32_t count, uint32_t throwable)
{
    put_u2(output, count);
    for (; count > 0; count--) {
        put_u1(output, TYPE_OBJECT);
        put_u2(output, throwable);
    }
}

/* The handler knows of no local variable and has the exception on its stack; its guard has it in a
 * variable, and another exception on the stack. */
static bool put_handler_frames(struct method_code *method, uint32_t next)
{
    struct class_output *output = &method->file->output;
    uint32_t throwable = pool_throwable(method->file);
    uint32_t guard = guard_handler(method, unwind_guard(method));
    stack_map_put_head(output, FRAME_FULL, method->handler - next);
    put_throwables(output, 0, throwable);
    put_throwables(output, 1, throwable);
    stack_map_put_head(output, FRAME_FULL, guard - method->handler - 1);
    put_throwables(output, 1, throwable);
    put_throwables(output, 1, throwable);
    return throwable != 0;
}

bool stack_map_put(struct method_code *method)
{
    struct class_output *output = &method->file->output;
    uint32_t count = method->frames != NULL ? load_u2(method->frames) : 0, next = 0;
    size_t place = output->used;
    put_u2(output, method->frames_name);
    put_u4(output, 0);
    put_u2(output, 0);
    if (method->frames != NULL && (method->trampoline_count > 0 || method->catches)) {
        if (!frame_list_put(method, &next, &count))
            return false;
    } else if (method->frames != NULL && !put_frames(method, &next)) {
        return false;
    }
    if (has_unwinding(method) && !put_handler_frames(method, next))
        return false;
    count += has_unwinding(method) ? 2 : 0;
    if (count > 0xFFFF)
        return method_leave(method, "its stack map would be too long");
    patch_u2(output, place + 6, count);
    patch_u4(output, place + 2, (uint32_t) (output->used - place - 6));
    return true;
}
