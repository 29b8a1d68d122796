/* SPDX-License-Identifier: Apache-2.0 */
/* Reads records that are not data: metadata, sections, comments. */
#include "format/metatf/metatf_state.h"

const char *metatf_reader_metadata(struct metatf_reader *reader, const uint8_t **at,
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

const char *metatf_reader_section(struct metatf_reader *reader, const uint8_t **at,
                                  uint64_t *number, struct metatf_reading **next)
{
    *number = *(*at)++;
    uint32_t index = metatf_dtd_section(reader->rest->dtd, (uint32_t) *number);
    if (index == UINT32_MAX || reader->rest->dtd->sections[index].is_data)
        return "a section that the DTD does not have, or one without records";
    *next = &reader->rest->sections[index];
    return NULL;
}

static void read_other(struct metatf_reader *reader, const uint8_t **at,
                       const struct metatf_record *record, struct metatf_reading **next,
                       struct step_bytes *comment)
{
    const struct metatf_state *states = reader->current->states + record->first_state;
    struct metatf_metadata metadata;
    uint64_t number;
    switch (record->role) {
    case METATF_METADATA:
        reader->fault = metatf_reader_metadata(reader, at, &metadata);
        break;
    case METATF_SECTION:
        reader->fault = metatf_reader_section(reader, at, &number, next);
        break;
    default:
        number = metatf_take_number(reader, at, &states[1], states[1].argument,
                                    &reader->current->cells[record->fields[1].cell]);
        *comment = metatf_take_bytes(reader, at, &states[2], number);
        break;
    }
}

enum step_status metatf_reader_other(struct metatf_reader *reader, uint64_t tag,
                                     struct step_bytes *comment, bool *is_comment,
                                     struct step_error *error)
{
    const struct metatf_section *section = reader->current->section;
    const uint8_t *at = reader->stream.at + reader->rest->dtd->tag_width;
    uint32_t index = metatf_record_by_tag(section, tag);
    struct metatf_reading *next = reader->current;
    *is_comment = false;
    if (at > reader->stream.end)
        return metatf_reader_refuse(reader, at, error);
    if (index == UINT32_MAX || section->records[index].role == METATF_DATA) {
        reader->fault = "unknown tag";
    } else {
        *is_comment = section->records[index].role == METATF_COMMENT;
        read_other(reader, &at, &section->records[index], &next, comment);
    }
    enum step_status status = metatf_commit(reader, at, error);
    if (status != STEP_STATUS_OK)
        return status;
    reader->current = next;
    reader->rest->other_count++;
    return status;
}
