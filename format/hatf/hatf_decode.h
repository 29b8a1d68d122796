/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes a record: the reader's inner loop, compiled for each kind of split.  It does not check
 * for the end: HATF_PADDING_BYTES from each position must be readable, and the final positions show
 * whether the record was cut.
 */
#ifndef FORMAT_HATF_HATF_DECODE_H
#define FORMAT_HATF_HATF_DECODE_H

#include <string.h>

#include "format/hatf/hatf_state.h"
#include "format/hatf/hatf_stream.h"

/* The position in each stream. */
struct hatf_places {
    const uint8_t *at[HATF_STREAM_COUNT];
};

/* Returns the position of the field's bytes. */
static inline const uint8_t **hatf_place_of(struct hatf_places *places, enum hatf_split split,
                                            const struct hatf_field_state *state,
                                            enum hatf_field field)
{
    bool apart =
        split == HATF_SPLIT_FIELDS || (split == HATF_SPLIT_ADDRESS && field == HATF_ADDRESS &&
                                       state->interpretation == HATF_NONE);
    return &places->at[apart ? HATF_STREAM_OF(field) : HATF_STREAM_MAIN];
}

static inline uint64_t hatf_take_number(struct hatf_places *places, enum hatf_split split,
                                        struct hatf_state *state, enum hatf_field number)
{
    struct hatf_field_state *field = &state->fields[number];
    const uint8_t **at = hatf_place_of(places, split, field, number);
    uint64_t value = step_field_value(field->interpretation,
                                      step_number_load(*at, field->width, HATF_BIG_ENDIAN),
                                      field->width, field->value, field->stride, field->previous);
    *at += field->width;
    field->previous = value;
    return value;
}

static inline void hatf_take_attributes(struct hatf_places *places, enum hatf_split split,
                                        const struct hatf_state *state,
                                        struct step_bytes *attributes)
{
    const struct hatf_field_state *field = &state->fields[HATF_ATTRIBUTES];
    const uint8_t **at = hatf_place_of(places, split, field, HATF_ATTRIBUTES);
    size_t length = field->width;
    if (length == HATF_WIDTH_V1) {
        length = step_number_load(*at, 1, HATF_BIG_ENDIAN);
        *at += 1;
    } else if (length == HATF_WIDTH_V2) {
        length = step_number_load(*at, 2, HATF_BIG_ENDIAN);
        *at += 2;
    }
    attributes->data = length > 0 ? *at : NULL;
    attributes->length = length;
    *at += length;
}

static inline const char *hatf_take_metadata(const uint8_t **at, struct hatf_state *state,
                                             struct hatf_metadata *metadata)
{
    metadata->operation = (*at)[0];
    metadata->field = (*at)[1];
    metadata->argument = (*at)[2];
    const char *fault =
        hatf_metadata_fault(metadata->operation, metadata->field, metadata->argument);
    *at += 3;
    if (fault != NULL)
        return fault;
    unsigned values = hatf_metadata_values(metadata->operation, metadata->argument);
    metadata->value = values > 0 ? step_word_load(*at, HATF_BIG_ENDIAN) : 0;
    metadata->stride = values > 1 ? step_word_load(*at + HATF_WORD_BYTES, HATF_BIG_ENDIAN) : 0;
    *at += values * HATF_WORD_BYTES;
    hatf_state_apply(state, metadata);
    return NULL;
}

static inline void hatf_take_comment(const uint8_t **at, struct step_bytes *comment)
{
    comment->length = step_number_load(*at, 2, HATF_BIG_ENDIAN);
    comment->data = *at + 2;
    *at += 2 + comment->length;
}

/* Decodes the current record and advances.  Returns NULL, or the reason why it is not valid. */
static inline const char *hatf_decode(struct hatf_places *places, enum hatf_split split,
                                      struct hatf_state *state, struct hatf_record *record)
{
    const uint8_t **main = &places->at[HATF_STREAM_MAIN];
    uint8_t tag = *(*main)++;
    memset(record, 0, sizeof *record);
    record->tag = (enum hatf_tag) tag;
    switch (tag) {
    case HATF_ALLOC:
        record->size = hatf_take_number(places, split, state, HATF_SIZE);
        record->address = hatf_take_number(places, split, state, HATF_ADDRESS);
        break;
    case HATF_FREE:
        record->address = hatf_take_number(places, split, state, HATF_ADDRESS);
        break;
    case HATF_REALLOC_NO_ALLOC:
    case HATF_REALLOC_ALLOC_FREE:
    case HATF_REALLOC_ALLOC:
    case HATF_REALLOC_FREE:
        record->size = hatf_take_number(places, split, state, HATF_SIZE);
        record->address = hatf_take_number(places, split, state, HATF_ADDRESS);
        record->new_address = hatf_take_number(places, split, state, HATF_ADDRESS);
        break;
    case HATF_CREATE_HEAP:
    case HATF_DESTROY_HEAP:
        record->heap = hatf_take_number(places, split, state, HATF_HEAP);
        break;
    case HATF_CREATE_THREAD:
    case HATF_DESTROY_THREAD:
        break;
    case HATF_COMMENT:
        hatf_take_comment(main, &record->comment);
        return NULL;
    case HATF_METADATA:
        return hatf_take_metadata(main, state, &record->metadata);
    default:
        return "unknown tag";
    }
    /* every data record ends with these */
    record->thread = hatf_take_number(places, split, state, HATF_THREAD);
    if (tag < HATF_CREATE_HEAP)
        record->heap = hatf_take_number(places, split, state, HATF_HEAP);
    record->time = hatf_take_number(places, split, state, HATF_TIME);
    hatf_take_attributes(places, split, state, &record->attributes);
    return NULL;
}

#endif
