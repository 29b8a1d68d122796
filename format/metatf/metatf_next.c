/* SPDX-License-Identifier: Apache-2.0 */
/* The generic reader of Meta-TF records, which interprets the tables of a DTD. */
#include <stdlib.h>

#include "format/core/grow.h"
#include "format/metatf/metatf_state.h"

/* State of decoding a record. */
struct decoding {
    struct metatf_reader *reader;
    const struct metatf_record *record;
    const struct metatf_state *states;
    const uint8_t *at;
};

static struct metatf_value *add_value(struct metatf_reader *reader)
{
    struct metatf_reader_rest *rest = reader->rest;
    if (!STEP_MAKE_ROOM(rest->values, rest->value_capacity, rest->value_count + 1)) {
        reader->fault = "out of memory";
        rest->fault_status = STEP_STATUS_NO_MEMORY;
        return NULL;
    }
    return &rest->values[rest->value_count++];
}

static void take_field(struct decoding *decoding, uint32_t i)
{
    struct metatf_reader *reader = decoding->reader;
    const struct metatf_field *field = &decoding->record->fields[i];
    const struct metatf_state *state = &decoding->states[i];
    uint64_t *last = reader->rest->last;
    struct metatf_value *value = add_value(reader);
    if (value == NULL)
        return;
    *value = (struct metatf_value){0};
    if (field->kind == METATF_BYTES) {
        uint64_t length = field->width_field != METATF_NO_FIELD ? last[field->width_field] : 0;
        value->bytes = metatf_take_bytes(reader, &decoding->at, state, length);
        last[i] = value->bytes.length;
        return;
    }
    uint64_t argument = state->argument_by_field ? last[field->argument_field] : state->argument;
    last[i] = value->number = metatf_take_number(reader, &decoding->at, state, argument,
                                                 &reader->current->cells[field->cell]);
    if (field->has_value)
        metatf_expect(reader, value->number,
                      field->value_field != METATF_NO_FIELD ? last[field->value_field]
                                                            : field->value);
}

static void metatf_next_take_fields(struct decoding *decoding, uint32_t first, uint32_t count)
{
    struct metatf_reader *reader = decoding->reader;
    for (uint32_t i = first; i < first + count && reader->fault == NULL; i++) {
        take_field(decoding, i);
        uint32_t repeat = decoding->record->fields[i].repeat;
        if (repeat == 0)
            continue;
        uint64_t times = reader->rest->last[i];
        if (!metatf_take_repeat(reader, times, repeat))
            return;
        for (uint64_t k = 0; k < times && metatf_take_element(reader, &decoding->at); k++)
            metatf_next_take_fields(decoding, i + 1, repeat);
        i += repeat;
    }
}

/* ---- records that are not data ---- */

static const char *take_metadata(struct metatf_reader *reader, const uint8_t **at,
                                 struct metatf_metadata *metadata)
{
    const struct metatf_dtd *dtd = reader->rest->dtd;
    struct metatf_reading *current = reader->current;
    bool big = reader->big_endian;
    unsigned bytes = metatf_file_ints(reader->rest->file);
    *metadata = (struct metatf_metadata){.tag = step_number_load(*at, dtd->tag_width, big)};
    *at += dtd->tag_width;
    metadata->field = (*at)[0];
    metadata->property = (*at)[1];
    *at += 2;
    unsigned values = metatf_metadata_values(metadata->property);
    if (values > 0)
        metadata->value = step_number_load(*at, bytes, big);
    if (values > 1)
        metadata->stride = step_sign_extend(step_number_load(*at + bytes, bytes, big), bytes);
    *at += values * bytes;
    if (*at > reader->stream.end)
        return NULL; /* metatf_commit() reports it */
    return metatf_state_apply(dtd, current->section, current->states, current->cells, metadata);
}

static const char *take_section(struct metatf_reader *reader, const uint8_t **at, uint64_t *number,
                                struct metatf_reading **next)
{
    *number = *(*at)++;
    uint32_t index = metatf_dtd_section(reader->rest->dtd, (uint32_t) *number);
    if (index == UINT32_MAX || reader->rest->dtd->sections[index].is_data)
        return "a section that the DTD does not have, or one without records";
    *next = &reader->rest->sections[index];
    return NULL;
}

static void decode(struct metatf_reader *reader, const uint8_t **at, struct metatf_event *event,
                   struct metatf_reading **next)
{
    const struct metatf_record *record = event->record;
    switch (record->role) {
    case METATF_METADATA:
        reader->fault = take_metadata(reader, at, &event->metadata);
        return;
    case METATF_SECTION:
        reader->fault = take_section(reader, at, &event->number, next);
        return;
    default:
        break;
    }
    struct decoding decoding = {reader, record, reader->current->states + record->first_state, *at};
    struct metatf_value *tag = add_value(reader);
    if (tag == NULL || (record->field_count > METATF_VALUES_PER_BYTE &&
                        !metatf_take_values(reader, record->field_count)))
        return;
    *tag = (struct metatf_value){.number = record->tag};
    reader->rest->last[0] = record->tag;
    metatf_next_take_fields(&decoding, 1, record->field_count - 1);
    *at = decoding.at;
}

/* Takes the section's record `index`, whose fields begin at `at`. */
static enum step_status metatf_next_take_record(struct metatf_reader *reader, const uint8_t *at,
                                                uint32_t index, struct metatf_event *event,
                                                struct step_error *error)
{
    const struct metatf_section *section = reader->current->section;
    struct metatf_reading *next = reader->current;
    reader->rest->value_count = 0;
    *event = (struct metatf_event){.section = section,
                                   .record = &section->records[index],
                                   .position = reader->current->position};
    decode(reader, &at, event, &next);
    enum step_status status = metatf_commit(reader, at, error);
    if (status != STEP_STATUS_OK)
        return status;
    reader->current = next;
    reader->rest->other_count += event->record->role != METATF_DATA;
    event->values = reader->rest->values;
    event->value_count = reader->rest->value_count;
    return STEP_STATUS_OK;
}

enum step_status metatf_reader_next(struct metatf_reader *reader, struct metatf_event *event,
                                    struct step_error *error)
{
    enum step_status status = metatf_fill(reader, error);
    if (status != STEP_STATUS_OK)
        return status;
    const struct metatf_section *section = reader->current->section;
    uint32_t tag_width = reader->rest->dtd->tag_width;
    const uint8_t *at = reader->stream.at + tag_width;
    uint64_t tag = step_number_load(reader->stream.at, tag_width, reader->big_endian);
    uint32_t index = tag < 256 ? reader->current->by_tag[tag] : metatf_record_by_tag(section, tag);
    if (index < section->record_count)
        return metatf_next_take_record(reader, at, index, event, error);
    reader->fault = at <= reader->stream.end ? "unknown tag" : NULL;
    return metatf_reader_refuse(reader, at, error);
}

/* For generated code, which reads the data records itself. */
enum step_status metatf_reader_other(struct metatf_reader *reader, uint64_t tag,
                                     struct step_bytes *comment, bool *is_comment,
                                     struct step_error *error)
{
    const struct metatf_section *section = reader->current->section;
    const uint8_t *at = reader->stream.at + reader->rest->dtd->tag_width;
    uint32_t index = metatf_record_by_tag(section, tag);
    struct metatf_event event;
    *is_comment = false;
    if (at <= reader->stream.end &&
        (index == UINT32_MAX || section->records[index].role == METATF_DATA))
        reader->fault = "unknown tag";
    if (at > reader->stream.end || reader->fault != NULL)
        return metatf_reader_refuse(reader, at, error);
    enum step_status status = metatf_next_take_record(reader, at, index, &event, error);
    if (status != STEP_STATUS_OK || event.record->role != METATF_COMMENT)
        return status;
    *is_comment = true;
    *comment = event.values[2].bytes;
    return status;
}
