/* SPDX-License-Identifier: Apache-2.0 */
/* Growing buffers and bounds-checked cursors. */
#include "format/core/bytes.h"

#include <stdlib.h>
#include <string.h>

#include "format/core/grow.h"

void step_buffer_reset(struct step_buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct step_buffer){0};
}

bool step_buffer_reserve(struct step_buffer *buffer, size_t extra)
{
    if (extra <= buffer->capacity - buffer->length)
        return true;
    if (extra > SIZE_MAX / 2 - buffer->length)
        return false;
    return STEP_MAKE_ROOM(buffer->data, buffer->capacity, buffer->length + extra);
}

bool step_buffer_append(struct step_buffer *buffer, const void *data, size_t length)
{
    if (!step_buffer_reserve(buffer, length))
        return false;
    if (length > 0)
        memcpy(buffer->data + buffer->length, data, length);
    buffer->length += length;
    return true;
}

bool step_buffer_append_varint(struct step_buffer *buffer, uint64_t value)
{
    if (!step_buffer_reserve(buffer, STEP_VARINT_MAX))
        return false;
    uint8_t *start = buffer->data + buffer->length;
    buffer->length += (size_t) (step_varint_put(start, value) - start);
    return true;
}

bool step_cursor_varint(struct step_cursor *cursor, uint64_t *value)
{
    const uint8_t *next = step_varint_get(cursor->at, cursor->end, value);
    if (next == NULL)
        return false;
    cursor->at = next;
    return true;
}

bool step_cursor_bytes(struct step_cursor *cursor, uint64_t length, const uint8_t **bytes)
{
    if (length > step_cursor_left(cursor))
        return false;
    *bytes = cursor->at;
    cursor->at += (size_t) length;
    return true;
}
