/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the living bytes of each segment of births. */
#include "converter/simulate/segments.h"

#include <stdlib.h>

#include "format/core/grow.h"

static bool append(struct segments *segments)
{
    if (segments->count == segments->capacity) {
        struct segment *items = segments->count < UINT32_MAX
                                    ? step_grown(segments->items, &segments->capacity,
                                                 segments->capacity + 1, sizeof *items)
                                    : NULL;
        if (items == NULL)
            return false;
        segments->items = items;
    }
    segments->items[segments->count++] = (struct segment){.living = 0};
    segments->is_last_used = false;
    return true;
}

bool segments_init(struct segments *segments)
{
    *segments = (struct segments){.items = NULL};
    return object_table_init(&segments->births) && append(segments) && append(segments);
}

void segments_reset(struct segments *segments)
{
    object_table_reset(&segments->births);
    free(segments->items);
    *segments = (struct segments){.items = NULL};
}

bool segments_begin(struct segments *segments)
{
    return !segments->is_last_used || append(segments);
}

static bool put_into(struct segments *segments, uint32_t number, uint64_t object, uint64_t size)
{
    segments_take(segments, object);
    segments->items[number].living += size;
    segments->living += size;
    return object_table_put(&segments->births,
                            &(struct live_object){.object = object, .value = number, .size = size});
}

bool segments_put(struct segments *segments, uint64_t object, uint64_t size)
{
    segments->is_last_used = true;
    return put_into(segments, segments->count - 1, object, size);
}

bool segments_put_existing(struct segments *segments, uint64_t object, uint64_t size)
{
    return put_into(segments, 0, object, size);
}

bool segments_put_large(struct segments *segments, uint64_t object, uint64_t size)
{
    if (!segments_begin(segments))
        return false;
    segments->items[segments->count - 1].large = size;
    return segments_put(segments, object, size) && segments_begin(segments);
}

bool segments_take(struct segments *segments, uint64_t object)
{
    struct live_object birth;
    if (!object_table_take(&segments->births, object, &birth))
        return false;
    segments->items[birth.value].living -= birth.size;
    segments->living -= birth.size;
    return true;
}

uint64_t segments_living(const struct segments *segments, uint32_t first, uint32_t end,
                         uint64_t largest)
{
    uint64_t living = 0;
    for (uint32_t i = first; i < end; i++)
        if (segments->items[i].large <= largest)
            living += segments->items[i].living;
    return living;
}
