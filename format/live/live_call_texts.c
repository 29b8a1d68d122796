/* SPDX-License-Identifier: Apache-2.0 */
/* CALL[,align=N][;FRAME]...: a dictionary entry for each that has been seen. */
#include "format/live/live_call_texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/core/grow.h"
#include "steptrace/hatf_trace.h"

#define TEXT_MOST 60000u /* HATF's attributes have 65,535 */
#define FRAMES_MOST (UINT64_C(1) << 28)
#define DEPTH_MOST 1024
#define LEAST ((size_t) 256)

static const char *const call_names[STEP_LIVE_CALL_COUNT] = {
    [STEP_LIVE_CALL_PLAIN] = "malloc",
    [STEP_LIVE_CALL_CALLOC] = "calloc",
    [STEP_LIVE_CALL_ALIGNED_ALLOC] = "aligned_alloc",
    [STEP_LIVE_CALL_POSIX_MEMALIGN] = "posix_memalign",
    [STEP_LIVE_CALL_MEMALIGN] = "memalign",
    [STEP_LIVE_CALL_VALLOC] = "valloc",
    [STEP_LIVE_CALL_PVALLOC] = "pvalloc",
    [STEP_LIVE_CALL_NEW] = "new",
    [STEP_LIVE_CALL_NEW_ARRAY] = "new[]",
    [STEP_LIVE_CALL_DELETE] = "delete",
    [STEP_LIVE_CALL_DELETE_ARRAY] = "delete[]",
    [STEP_LIVE_CALL_MALLOCX] = "mallocx",
    [STEP_LIVE_CALL_RALLOCX] = "rallocx",
    [STEP_LIVE_CALL_DALLOCX] = "dallocx",
    [STEP_LIVE_CALL_HEAP_MALLOC] = "mi_heap_malloc",
    [STEP_LIVE_CALL_HEAP_CALLOC] = "mi_heap_calloc",
    [STEP_LIVE_CALL_HEAP_REALLOC] = "mi_heap_realloc",
};

void live_call_texts_reset(struct live_call_texts *texts)
{
    free(texts->frames);
    free(texts->entries);
    *texts = (struct live_call_texts){NULL, NULL, NULL, 0, NULL, 0, 0};
}

void live_call_texts_frame(struct live_call_texts *texts, uint64_t frame, uint64_t parent,
                           uint64_t address)
{
    if (frame == 0 || frame > FRAMES_MOST || parent >= frame)
        return;
    if (frame >= texts->frame_capacity) {
        size_t old = texts->frame_capacity;
        struct live_call_frame *grown =
            step_grown(texts->frames, &texts->frame_capacity, (size_t) frame + 1, sizeof *grown);
        if (grown == NULL)
            return;
        memset(grown + old, 0, (texts->frame_capacity - old) * sizeof *grown);
        texts->frames = grown;
    }
    texts->frames[frame] = (struct live_call_frame){parent, address};
}

static size_t put_frames(const struct live_call_texts *texts, uint64_t frame, char *out,
                         size_t used)
{
    for (int depth = 0; depth < DEPTH_MOST && frame != 0 && frame < texts->frame_capacity &&
                        texts->frames[frame].address != 0;
         depth++) {
        char one[1024];
        const struct live_call_frame *at = &texts->frames[frame];
        size_t length =
            texts->describe != NULL
                ? texts->describe(texts->user, at->address, one, sizeof one)
                : (size_t) snprintf(one, sizeof one, "0x%llx", (unsigned long long) at->address);
        if (length + 1 > TEXT_MOST - used)
            break;
        out[used++] = ';';
        memcpy(out + used, one, length);
        used += length;
        frame = at->parent;
    }
    return used;
}

static uint64_t define(const struct live_call_texts *texts, struct step_writer *writer,
                       uint64_t call_word, uint64_t frame)
{
    static _Thread_local char text[TEXT_MOST];
    uint64_t call = call_word >> STEP_LIVE_HEAP_CALL_SHIFT, entry = 0;
    unsigned alignment = call_word >> STEP_LIVE_HEAP_ALIGNMENT_SHIFT & 63;
    size_t used = (size_t) snprintf(text, sizeof text, alignment != 0 ? "%s,align=%llu" : "%s",
                                    call_names[call], 1ull << alignment);
    used = put_frames(texts, frame, text, used);
    const struct step_heap_attributes value = {{(const uint8_t *) text, used}};
    return step_heap_attributes_define(writer, &value, &entry) == STEP_STATUS_OK ? entry : 0;
}

static struct live_call_entry *place_of(struct live_call_entry *entries, size_t capacity,
                                        uint64_t call, uint64_t frame)
{
    uint64_t hash = (frame ^ call) * UINT64_C(0x9e3779b97f4a7c15);
    size_t at = (size_t) (hash >> 24) & (capacity - 1);
    while (entries[at].entry != 0 && (entries[at].call != call || entries[at].frame != frame))
        at = (at + 1) & (capacity - 1);
    return &entries[at];
}

static bool make_room(struct live_call_texts *texts)
{
    if (2 * texts->count < texts->capacity)
        return true;
    size_t wanted = texts->capacity != 0 ? 2 * texts->capacity : LEAST;
    struct live_call_entry *grown = calloc(wanted, sizeof *grown);
    if (grown == NULL)
        return false;
    for (size_t i = 0; i < texts->capacity; i++)
        if (texts->entries[i].entry != 0)
            *place_of(grown, wanted, texts->entries[i].call, texts->entries[i].frame) =
                texts->entries[i];
    free(texts->entries);
    texts->entries = grown;
    texts->capacity = wanted;
    return true;
}

uint64_t live_call_texts_entry(struct live_call_texts *texts, struct step_writer *writer,
                               uint64_t size_word, uint64_t frame)
{
    uint64_t call = size_word >> STEP_LIVE_HEAP_ALIGNMENT_SHIFT << STEP_LIVE_HEAP_ALIGNMENT_SHIFT;
    if ((call == 0 && frame == 0) || call >> STEP_LIVE_HEAP_CALL_SHIFT >= STEP_LIVE_CALL_COUNT ||
        !make_room(texts))
        return 0;
    struct live_call_entry *entry = place_of(texts->entries, texts->capacity, call, frame);
    if (entry->entry == 0) {
        *entry = (struct live_call_entry){call, frame, define(texts, writer, call, frame)};
        texts->count += entry->entry != 0;
    }
    return entry->entry;
}
