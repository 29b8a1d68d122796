/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the StackMapTable. */
#include "agent/rewriter/stack_map.h"

/* Skips `count` types. Returns NULL if they are malformed or exceed the table. */
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

/* Reads the types of a frame whose head has been read. */
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

/* Reads the list of strict fields that are not set yet, which may precede a frame. */
static bool read_unset(struct map_frame *frame, const uint8_t **at, const uint8_t *end)
{
    if (*at == end || **at != FRAME_EARLY_LARVAL)
        return *at != end;
    frame->unset = *at + 1;
    if (end - *at < 3 || end - *at <= 3 + 2 * (ptrdiff_t) load_u2(frame->unset))
        return false;
    *at += 3 + 2 * (size_t) load_u2(frame->unset);
    return true;
}

bool map_reader_next(struct map_reader *reader, struct map_frame *frame)
{
    const uint8_t *at = reader->at;
    uint32_t delta;
    if (reader->left == 0)
        return false;
    *frame = (struct map_frame){0};
    reader->fault = at;
    if (!read_unset(frame, &at, reader->end))
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
    return class_malformed(method->file, at, "an invalid frame in the stack map");
}

bool map_reader_done(const struct map_reader *reader)
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
    return map_reader_done(&reader) || map_reader_fault(&reader, method);
}
