/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packs strings: repeated strings as numbers, common prefixes as lengths.
 *
 * It is the paper's `identifier` (Appendix B.1) for strings of a block: a string is given once, and
 * its number, which both sides count, stands for it afterwards.  Numbers, prefix lengths and bytes
 * are three parts one after the other, because a compressor does better on numbers alone and on
 * text alone.  What the flags allow is tried by the writer; nothing is assumed to help.
 */
#include "format/codec/strategies/packed_strings.h"

#include <stdlib.h>
#include <string.h>

#include "format/core/checksum.h"
#include "format/core/grow.h"

void step_string_numbers_reset(struct step_string_numbers *numbers)
{
    free(numbers->places);
    step_index_reset(&numbers->index);
    *numbers = (struct step_string_numbers){0};
}

void step_string_numbers_clear(struct step_string_numbers *numbers)
{
    numbers->count = 0;
    step_index_clear(&numbers->index);
}

static bool add_place(struct step_string_numbers *numbers, struct step_string_place place)
{
    if (!STEP_MAKE_ROOM(numbers->places, numbers->capacity, numbers->count + 1))
        return false;
    numbers->places[numbers->count++] = place;
    return true;
}

bool step_string_number_next(struct step_string_numbers *numbers, size_t start, size_t length)
{
    return numbers->count == STEP_STRINGS_MOST ||
           add_place(numbers, (struct step_string_place){start, length});
}

/* The hash only finds candidates; equality is decided by the bytes.  Beyond STEP_STRINGS_MOST
 * strings get no number, and are given each time: the bound holds a reader's memory, and both sides
 * reach it at the same string. */
bool step_string_number(struct step_string_numbers *numbers, const uint8_t *bytes, size_t start,
                        size_t length, uint64_t *number)
{
    static const uint8_t nothing[1] = {0};
    const uint8_t *text = length > 0 ? bytes + start : nothing;
    uint32_t hash = (uint32_t) step_checksum(text, length), place;
    STEP_INDEX_EACH (&numbers->index, hash, place) {
        const struct step_string_place *other = &numbers->places[place];
        if (other->length == length &&
            (length == 0 || memcmp(bytes + other->start, text, length) == 0)) {
            *number = (uint64_t) place + 1;
            return true;
        }
    }
    *number = 0;
    return numbers->count == STEP_STRINGS_MOST ||
           (step_index_add(&numbers->index, hash, (uint32_t) numbers->count) &&
            add_place(numbers, (struct step_string_place){start, length}));
}

size_t step_shared_prefix(const uint8_t *left, size_t left_length, const uint8_t *right,
                          size_t right_length)
{
    size_t most = left_length < right_length ? left_length : right_length;
    size_t shared = 0;
    while (shared < most && left[shared] == right[shared])
        shared++;
    return shared;
}

/* State of packing: the numbers, the prefix lengths, the remaining bytes. */
struct packing {
    struct step_string_numbers numbers;
    struct step_buffer shared;
    struct step_buffer rest;
    size_t last_start; /* of the last string that was stored */
    size_t last_length;
};

static void reset_packing(struct packing *packing)
{
    step_string_numbers_reset(&packing->numbers);
    step_buffer_reset(&packing->shared);
    step_buffer_reset(&packing->rest);
}

/* Packs a string that is stored. */
static bool pack_string(struct packing *packing, unsigned flags, const uint8_t *bytes, size_t start,
                        size_t length)
{
    size_t shared = 0;
    bool good = true;
    if ((flags & STEP_STRINGS_SHARED) != 0) {
        if (length > 0 && packing->last_length > 0)
            shared = step_shared_prefix(bytes + packing->last_start, packing->last_length,
                                        bytes + start, length);
        good = step_buffer_append_varint(&packing->shared, shared);
    }
    packing->last_start = start;
    packing->last_length = length;
    return good && (length == shared ||
                    step_buffer_append(&packing->rest, bytes + start + shared, length - shared));
}

static enum step_status pack_all(struct packing *packing, unsigned flags, const uint64_t *lengths,
                                 size_t count, const uint8_t *bytes, struct step_buffer *out)
{
    size_t start = 0;
    for (size_t i = 0; i < count; i++) {
        size_t length = (size_t) lengths[i];
        uint64_t number = 0;
        if ((flags & STEP_STRINGS_NUMBERED) != 0 &&
            (!step_string_number(&packing->numbers, bytes, start, length, &number) ||
             !step_buffer_append_varint(out, number)))
            return STEP_STATUS_NO_MEMORY;
        if (number == 0 && !pack_string(packing, flags, bytes, start, length))
            return STEP_STATUS_NO_MEMORY;
        start += length;
    }
    bool good = (packing->shared.length == 0 ||
                 step_buffer_append(out, packing->shared.data, packing->shared.length)) &&
                (packing->rest.length == 0 ||
                 step_buffer_append(out, packing->rest.data, packing->rest.length));
    return good ? STEP_STATUS_OK : STEP_STATUS_NO_MEMORY;
}

enum step_status step_strings_pack(unsigned flags, const uint64_t *lengths, size_t count,
                                   const uint8_t *bytes, struct step_buffer *out)
{
    struct packing packing = {.last_length = 0};
    out->length = 0;
    enum step_status status = pack_all(&packing, flags, lengths, count, bytes, out);
    reset_packing(&packing);
    return status;
}

/* State of unpacking, which reads the numbers, prefix lengths and remaining bytes in parallel. */
struct unpacking {
    struct step_cursor numbers;
    struct step_cursor shared;
    struct step_cursor rest;
    struct step_string_numbers places;
    uint8_t *out;
    size_t last_start;
    size_t last_length;
};

/* Locates the parts.  Returns false if the bytes end early.  The parts have no lengths of their
 * own: the first is as many varints as there are strings, and the second one for each string
 * that is given, so all are parsed once before anything is unpacked.  Later reads of them cannot
 * fail. */
static bool find_parts(struct unpacking *unpacking, unsigned flags, size_t count,
                       const uint8_t *packed, size_t packed_length)
{
    struct step_cursor cursor = step_cursor_of(packed, packed_length);
    size_t given = count;
    uint64_t number;
    unpacking->numbers = cursor;
    if ((flags & STEP_STRINGS_NUMBERED) != 0) {
        given = 0;
        for (size_t i = 0; i < count; i++) {
            if (!step_cursor_varint(&cursor, &number))
                return false;
            given += number == 0;
        }
    }
    unpacking->shared = cursor;
    if ((flags & STEP_STRINGS_SHARED) != 0)
        for (size_t i = 0; i < given; i++)
            if (!step_cursor_varint(&cursor, &number))
                return false;
    unpacking->rest = cursor;
    return true;
}

static enum step_status unpack_given(struct unpacking *unpacking, unsigned flags, size_t start,
                                     size_t length)
{
    uint64_t shared = 0;
    const uint8_t *rest;
    if ((flags & STEP_STRINGS_SHARED) != 0)
        step_cursor_varint(&unpacking->shared, &shared); /* cannot fail: it was parsed before */
    if (shared > length || shared > unpacking->last_length ||
        !step_cursor_bytes(&unpacking->rest, length - shared, &rest))
        return STEP_STATUS_CORRUPT;
    if (shared > 0)
        memcpy(unpacking->out + start, unpacking->out + unpacking->last_start, (size_t) shared);
    if (length > shared)
        memcpy(unpacking->out + start + shared, rest, length - (size_t) shared);
    unpacking->last_start = start;
    unpacking->last_length = length;
    bool numbered = (flags & STEP_STRINGS_NUMBERED) != 0;
    return !numbered || step_string_number_next(&unpacking->places, start, length)
               ? STEP_STATUS_OK
               : STEP_STATUS_NO_MEMORY;
}

static enum step_status unpack_string(struct unpacking *unpacking, unsigned flags, size_t start,
                                      size_t length)
{
    uint64_t number = 0;
    if ((flags & STEP_STRINGS_NUMBERED) != 0)
        step_cursor_varint(&unpacking->numbers, &number);
    if (number == 0)
        return unpack_given(unpacking, flags, start, length);
    if (number > unpacking->places.count || unpacking->places.places[number - 1].length != length)
        return STEP_STATUS_CORRUPT;
    if (length > 0)
        memcpy(unpacking->out + start, unpacking->out + unpacking->places.places[number - 1].start,
               length);
    return STEP_STATUS_OK;
}

enum step_status step_strings_unpack(unsigned flags, const struct step_series *lengths,
                                     size_t count, const uint8_t *packed, size_t packed_length,
                                     uint8_t *out, size_t total)
{
    struct unpacking unpacking = {.out = out};
    if (!find_parts(&unpacking, flags, count, packed, packed_length))
        return STEP_STATUS_CORRUPT;
    enum step_status status = STEP_STATUS_OK;
    size_t start = 0;
    for (size_t i = 0; i < count && status == STEP_STATUS_OK; i++) {
        uint64_t length = lengths->values[i * lengths->step];
        status = length > total - start ? STEP_STATUS_CORRUPT
                                        : unpack_string(&unpacking, flags, start, (size_t) length);
        start += status == STEP_STATUS_OK ? (size_t) length : 0;
    }
    if (status == STEP_STATUS_OK && (start != total || step_cursor_left(&unpacking.rest) > 0))
        status = STEP_STATUS_CORRUPT;
    step_string_numbers_reset(&unpacking.places);
    return status;
}
