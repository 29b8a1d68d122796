/* SPDX-License-Identifier: Apache-2.0 */
/* The generic writer of Meta-TF records, which interprets the tables of a DTD. */
#include <inttypes.h>

#include "format/metatf/metatf_writing.h"

/* State of encoding a record. */
struct encoding {
    struct metatf_writer *writer;
    const struct metatf_record *record;
    const struct metatf_state *states;
    const uint32_t *users;
    const struct metatf_value *values;
    size_t value_count;
    size_t next;
    uint8_t *at;
    const char *fault; /* the values do not fit the record's type */
};

/* The value of a field that stores the length of another is that length. */
static uint64_t metatf_put_number_of(const struct encoding *encoding, uint32_t i)
{
    uint32_t user = encoding->users[i];
    if (user == METATF_NO_FIELD)
        return encoding->values[encoding->next].number;
    for (uint32_t k = i; k < user; k++)
        if (encoding->record->fields[k].repeat > 0)
            return encoding->values[encoding->next].number;
    size_t other = encoding->next + (user - i);
    return other < encoding->value_count ? encoding->values[other].bytes.length : 0;
}

static void metatf_put_field(struct encoding *encoding, uint32_t i)
{
    struct metatf_writer *writer = encoding->writer;
    const struct metatf_field *field = &encoding->record->fields[i];
    const struct metatf_state *state = &encoding->states[i];
    uint64_t *last = writer->rest->last;
    if (encoding->next == encoding->value_count) {
        encoding->fault = "too few values";
        return;
    }
    if (field->kind == METATF_BYTES) {
        struct step_bytes bytes = encoding->values[encoding->next++].bytes;
        uint64_t length = field->width_field != METATF_NO_FIELD ? last[field->width_field] : 0;
        if (state->width_by_field && length != bytes.length)
            encoding->fault = "bytes are not as long as another field says";
        else
            metatf_put_bytes(writer, &encoding->at, state, bytes, length, i);
        last[i] = bytes.length;
        return;
    }
    last[i] = metatf_put_number_of(encoding, i);
    encoding->next++;
    if (field->has_value &&
        last[i] !=
            (field->value_field != METATF_NO_FIELD ? last[field->value_field] : field->value))
        encoding->fault = "a field does not have the value that the DTD prescribes";
    metatf_put_number(writer, &encoding->at, state,
                      state->argument_by_field ? last[field->argument_field] : state->argument,
                      &writer->current->cells[field->cell], last[i], i);
}

static void metatf_put_fields(struct encoding *encoding, uint32_t first, uint32_t count)
{
    struct metatf_writer *writer = encoding->writer;
    for (uint32_t i = first; i < first + count; i++) {
        if (encoding->fault != NULL || writer->misfit != METATF_NO_FIELD || writer->out_of_memory)
            return;
        metatf_put_field(encoding, i);
        uint32_t repeat = encoding->record->fields[i].repeat;
        if (repeat == 0)
            continue;
        uint64_t times = writer->rest->last[i];
        if (times > METATF_REPEAT_LIMIT / repeat)
            encoding->fault = "a count is too large";
        for (uint64_t k = 0; k < times && encoding->fault == NULL &&
                             metatf_put_element(writer, &encoding->at, repeat);
             k++)
            metatf_put_fields(encoding, i + 1, repeat);
        i += repeat;
    }
}

static enum step_status metatf_put_refuse(struct metatf_writer *writer,
                                          const struct metatf_record *record, const char *fault,
                                          struct step_error *error)
{
    metatf_writer_roll_back(writer);
    writer->misfit = METATF_NO_FIELD;
    return step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET, "record %s: %s",
                          record->name, fault);
}

enum step_status metatf_writer_put(struct metatf_writer *writer, uint32_t section, uint32_t record,
                                   const struct metatf_value *values, size_t value_count,
                                   uint32_t *misfit, struct step_error *error)
{
    const struct metatf_dtd *dtd = writer->rest->options.dtd;
    if (section >= dtd->section_count || dtd->sections[section].is_data ||
        record >= dtd->sections[section].record_count)
        return step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET,
                              "no such section or record");
    const struct metatf_record *model = &dtd->sections[section].records[record];
    if (model->role == METATF_METADATA || model->role == METATF_SECTION)
        return metatf_put_refuse(writer, model, "it is not put as data", error);
    enum step_status status;
    bool again;
    do {
        uint8_t *at = metatf_writer_begin(writer, section, model->tag);
        struct encoding encoding = {.writer = writer,
                                    .record = model,
                                    .states = writer->current->states + model->first_state,
                                    .users = writer->current->users + model->first_state,
                                    .values = values,
                                    .value_count = value_count,
                                    .next = 1,
                                    .at = at};
        writer->rest->last[0] = model->tag;
        if (at != NULL)
            metatf_put_fields(&encoding, 1, model->field_count - 1);
        if (encoding.fault == NULL && writer->misfit == METATF_NO_FIELD &&
            encoding.next != value_count && at != NULL && !writer->out_of_memory)
            encoding.fault = "too many values";
        if (encoding.fault != NULL)
            return metatf_put_refuse(writer, model, encoding.fault, error);
        again = metatf_writer_end(writer, record, at != NULL ? encoding.at : NULL, misfit, &status,
                                  error);
    } while (again);
    return status;
}

enum step_status metatf_writer_comment(struct metatf_writer *writer, uint32_t section,
                                       const void *text, size_t length, struct step_error *error)
{
    const struct metatf_dtd *dtd = writer->rest->options.dtd;
    const struct metatf_value values[3] = {{.number = 0}, {.number = 0}, {.bytes = {text, length}}};
    if (section >= dtd->section_count)
        return step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET, "no such section");
    return metatf_writer_put(writer, section,
                             metatf_section_record(&dtd->sections[section], "comment"), values, 3,
                             NULL, error);
}
