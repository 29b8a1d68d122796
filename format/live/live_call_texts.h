/* SPDX-License-Identifier: Apache-2.0 */
/* The attributes of a native program's records: what was called, and from where. */
#ifndef FORMAT_LIVE_LIVE_CALL_TEXTS_H
#define FORMAT_LIVE_LIVE_CALL_TEXTS_H

#include "format/live/live_allocs.h"

struct live_call_frame {
    uint64_t parent, address;
};

struct live_call_entry {
    uint64_t call, frame; /* as in the raw records */
    uint64_t entry;       /* of the dictionary; 0: this place is free */
};

/* Zero-initialised is empty. */
struct live_call_texts {
    live_allocs_describe describe;
    void *user;
    struct live_call_frame *frames;
    size_t frame_capacity;
    struct live_call_entry *entries;
    size_t capacity, count;
};

void live_call_texts_reset(struct live_call_texts *texts);
/* Notes a frame. */
void live_call_texts_frame(struct live_call_texts *texts, uint64_t frame, uint64_t parent,
                           uint64_t address);
/* The dictionary's entry for a raw record's size and its frame, 0: it needs none. */
uint64_t live_call_texts_entry(struct live_call_texts *texts, struct step_writer *writer,
                               uint64_t size_word, uint64_t frame);

#endif
