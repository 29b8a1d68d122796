/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of HATF share: a growing output, and traces like an allocator's with a seed. */
#ifndef TESTS_UNIT_FORMAT_HATF_HATF_SAMPLE_H
#define TESTS_UNIT_FORMAT_HATF_HATF_SAMPLE_H

#include <stdlib.h>
#include <string.h>

#include "steptrace/hatf.h"

struct sample_output {
    uint8_t *data;
    size_t length;
    size_t capacity;
};

static inline enum step_status sample_write(void *user, const void *data, size_t length,
                                            struct step_error *error)
{
    struct sample_output *out = user;
    (void) error;
    if (out->length + length > out->capacity) {
        out->capacity = (out->length + length) * 2;
        out->data = realloc(out->data, out->capacity);
    }
    if (length > 0)
        memcpy(out->data + out->length, data, length);
    out->length += length;
    return STEP_STATUS_OK;
}

static inline uint64_t sample_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed * UINT64_C(0x2545f4914f6cdd1d) >> 11;
}

/* Moods of a trace, which change now and then: runs, strides, near and far addresses, noise. */
static inline void sample_fill(struct hatf_record *records, size_t count, uint64_t seed)
{
    static const uint8_t text[300] = {'a', 'b', 'c'};
    uint64_t address = UINT64_C(0x550000001000);
    uint64_t size = 32;
    uint64_t time = 1000;
    uint64_t mood = 0;
    uint64_t thread = 0;
    for (size_t i = 0; i < count; i++) {
        struct hatf_record *record = &records[i];
        if (sample_random(&seed) % 40 == 0)
            mood = sample_random(&seed);
        if (sample_random(&seed) % 100 == 0)
            thread = sample_random(&seed) % 3 * (sample_random(&seed) % 2 == 0 ? 1 : 1000);
        size = mood % 3 == 0   ? size
               : mood % 3 == 1 ? sample_random(&seed) % 300
                               : sample_random(&seed) >> (mood % 50 + 11);
        if (mood / 3 % 4 == 0)
            address += 48;
        else if (mood / 3 % 4 == 1)
            address += sample_random(&seed) % 200 - 100;
        else if (mood / 3 % 4 == 2)
            address += sample_random(&seed) % 60000 - 30000;
        else
            address = sample_random(&seed) << 11;
        time += mood / 12 % 2 * (sample_random(&seed) % 300);
        *record =
            (struct hatf_record){.tag = sample_random(&seed) % 3 != 0 ? HATF_ALLOC : HATF_FREE,
                                 .size = size,
                                 .address = address,
                                 .thread = thread,
                                 .heap = mood / 24 % 50 == 0,
                                 .time = time};
        uint64_t kind = sample_random(&seed) % 64;
        if (kind < 10)
            record->tag = (enum hatf_tag) kind;
        if (record->tag >= HATF_REALLOC_NO_ALLOC && record->tag <= HATF_REALLOC_FREE)
            record->new_address = address + kind * 16;
        if (mood / 1200 % 4 == 0)
            record->attributes = (struct step_bytes){text, mood / 4800 % 300};
        if (kind == 20)
            *record = (struct hatf_record){.tag = HATF_COMMENT, .comment = {text, 3}};
    }
}

static inline bool sample_same_bytes(struct step_bytes a, struct step_bytes b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

/* In what their tag has, are they the same? */
static inline bool sample_same(const struct hatf_record *a, const struct hatf_record *b)
{
    enum hatf_tag tag = a->tag;
    if (tag != b->tag || tag == HATF_COMMENT)
        return tag == b->tag && sample_same_bytes(a->comment, b->comment);
    bool is_realloc = tag >= HATF_REALLOC_NO_ALLOC && tag <= HATF_REALLOC_FREE;
    return (!hatf_tag_has(tag, HATF_SIZE) || a->size == b->size) &&
           (!hatf_tag_has(tag, HATF_ADDRESS) || a->address == b->address) &&
           (!is_realloc || a->new_address == b->new_address) && a->thread == b->thread &&
           (!hatf_tag_has(tag, HATF_HEAP) || a->heap == b->heap) && a->time == b->time &&
           sample_same_bytes(a->attributes, b->attributes);
}

#endif
