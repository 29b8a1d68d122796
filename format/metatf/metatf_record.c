/* SPDX-License-Identifier: Apache-2.0 */
/* Writing one Meta-TF record: its bytes, and the journal to undo it if it does not fit. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "format/core/grow.h"
#include "format/core/step_no_memory.h"
#include "format/metatf/metatf_writing.h"

/* Misfit of a record that needs a flush before it. */
#define FLUSH_FIRST (METATF_NO_FIELD - 1)
/* Misfit that metadata cannot help: see metatf_put_split_record(). */
#define NO_SUCH_RECORD (METATF_NO_FIELD - 2)
#define NO_NUMBERS                                                                                 \
    "no record there is a tag and a number as wide as the stride, or its section is not apart"

bool metatf_writer_room(struct metatf_writer *writer, uint8_t **at, uint64_t length)
{
    struct metatf_writing *run = writer->run;
    size_t used = (size_t) (*at - run->data);
    if (length <= run->capacity - used && writer->need <= run->capacity - used - length)
        return true;
    size_t committed = run->length;
    run->length = used;
    bool good = length <= METATF_RECORD_BYTES_MAX &&
                metatf_grow_section(run, (size_t) length + writer->need);
    run->length = committed;
    if (!good)
        writer->out_of_memory = true;
    *at = run->data + used;
    return good;
}

/* Numbers are read in the order of the records, so between two flushes a data section holds numbers
 * of one section only. */
bool metatf_writer_split_room(struct metatf_writer *writer, struct metatf_writing *data)
{
    if (data->owner != writer->current && data->length > 0) {
        if (writer->misfit == METATF_NO_FIELD)
            writer->misfit = FLUSH_FIRST;
        return false;
    }
    data->owner = writer->current;
    if (!metatf_grow_section(data, 2 * STEP_FIELD_WIDTH_MAX))
        writer->out_of_memory = true;
    return !writer->out_of_memory;
}

/* Returns the record that has only the tag and an unmodified number of that many bytes, or
 * UINT32_MAX if there is none, or it cannot be written separately. */
static uint32_t number_record(const struct metatf_writer *writer, const struct metatf_writing *data,
                              uint64_t width)
{
    const struct metatf_section *section = data->section;
    for (uint32_t i = 0; i < section->record_count; i++) {
        const struct metatf_record *record = &section->records[i];
        const struct metatf_state *state = &data->states[record->first_state + 1];
        if (record->role == METATF_DATA && record->field_count == 2 &&
            !record->fields[1].has_value && record->fields[1].kind == METATF_NUMBER &&
            state->interpretation == STEP_FIELD_NONE && state->width == width &&
            writer->rest->options.layout != METATF_RECORDS)
            return i;
    }
    return UINT32_MAX;
}

void metatf_put_split_record(struct metatf_writer *writer, struct metatf_writing *data,
                             unsigned stride, uint64_t value)
{
    uint32_t record = number_record(writer, data, stride - data->tag_width);
    if (record == UINT32_MAX) {
        if (writer->misfit == METATF_NO_FIELD)
            writer->misfit = NO_SUCH_RECORD;
        return;
    }
    uint8_t *at = data->data + data->length;
    at = step_number_store(at, data->section->records[record].tag, data->tag_width,
                           writer->big_endian);
    step_number_store(at, value, stride - data->tag_width, writer->big_endian);
    metatf_note_undo(writer, &data->position, NULL, data->position);
    metatf_note_undo(writer, &writer->rest->records, NULL, writer->rest->records);
    data->length += stride;
    data->position += stride;
    writer->rest->records++;
}

/* Makes room for `count` more fields, four rows each. */
bool metatf_writer_undo_room(struct metatf_writer *writer, uint64_t count)
{
    size_t need = writer->undo_count + 4 * ((size_t) count + writer->need);
    bool good = STEP_MAKE_ROOM(writer->undo, writer->undo_capacity, need);
    writer->out_of_memory = writer->out_of_memory || !good;
    return good;
}

/* Every section has one record of each role but data. */
static uint32_t record_of_role(const struct metatf_section *section, enum metatf_role role)
{
    uint32_t index = 0;
    while (section->records[index].role != role)
        index++;
    return index;
}

/* In a file without index a record marks each change of section. */
static bool switch_section(struct metatf_writer *writer, struct metatf_writing *section)
{
    struct metatf_writing *old = writer->current;
    struct metatf_writer_rest *rest = writer->rest;
    bool in_one_run = rest->options.layout == METATF_RECORDS;
    writer->run = in_one_run ? &rest->run : section;
    writer->current = section;
    if (!in_one_run || old == section)
        return metatf_grow_section(writer->run, writer->need);
    if (!metatf_grow_section(writer->run, 2 * (size_t) writer->need))
        return false;
    const struct metatf_section *from = old->section;
    uint8_t *at = rest->run.data + rest->run.length;
    uint8_t *start = at;
    at = step_number_store(at, from->records[record_of_role(from, METATF_SECTION)].tag,
                           rest->options.dtd->tag_width, writer->big_endian);
    *at++ = (uint8_t) section->section->number;
    old->position += (uint64_t) (at - start);
    rest->run.length += (size_t) (at - start);
    return true;
}

uint8_t *metatf_writer_begin(struct metatf_writer *writer, uint32_t section, uint64_t tag)
{
    struct metatf_writing *writing = &writer->rest->sections[section];
    writer->undo_count = 0;
    if (writer->run == NULL || writer->current != writing ||
        writer->run->capacity - writer->run->length < writer->need) {
        if (!switch_section(writer, writing)) {
            writer->out_of_memory = true;
            return NULL;
        }
    }
    return step_number_store(writer->run->data + writer->run->length, tag,
                             writer->rest->options.dtd->tag_width, writer->big_endian);
}

void metatf_writer_roll_back(struct metatf_writer *writer)
{
    while (writer->undo_count > 0) {
        const struct metatf_undo *undo = &writer->undo[--writer->undo_count];
        if (undo->cell != NULL)
            *undo->cell = undo->old;
        else
            undo->data->length = (size_t) undo->old;
    }
}

void metatf_writer_misfit(struct metatf_writer *writer, const struct metatf_state *state,
                          uint32_t field, uint64_t value, uint64_t argument, uint64_t previous)
{
    bool is_signed = state->interpretation == STEP_FIELD_BASE_OFFSET ||
                     state->interpretation == STEP_FIELD_DELTA;
    uint64_t stored = step_field_stored(state->interpretation, value, argument, previous);
    unsigned width = 1;
    while (width < 8 &&
           !(is_signed ? step_fits_signed(stored, width) : step_fits_unsigned(stored, width)))
        width++;
    writer->misfit = field;
    writer->misfit_width = width;
}

/* Finds metadata with which the field fits, now or at the next attempt. */
static bool find_metadata(const struct metatf_writer *writer, const struct metatf_record *record,
                          struct metatf_metadata *metadata)
{
    uint32_t field = writer->misfit;
    const struct metatf_state *state = &writer->current->states[record->first_state + field];
    *metadata = (struct metatf_metadata){.tag = record->tag, .field = field};
    if (field == 0 || field > UINT8_MAX)
        return false;
    if (record->fields[field].kind == METATF_BYTES) {
        metadata->property = metatf_property_of(STEP_FIELD_NONE);
        return !state->width_by_field && record->fields[field].width_field != METATF_NO_FIELD;
    }
    switch (state->interpretation) {
    case STEP_FIELD_DEFAULT:
    case STEP_FIELD_STRIDE:
        metadata->property = metatf_property_of(STEP_FIELD_NONE);
        return true;
    case STEP_FIELD_SECTION_STRIDE:
        if (writer->split[state->argument]->tag_width > 0)
            return false; /* its records have one size */
        metadata->property = metatf_property_of(STEP_FIELD_SECTION_STRIDE);
        metadata->value = state->argument;
        metadata->stride = writer->misfit_width;
        return true;
    default:
        metadata->property = METATF_PROPERTY_WIDTH;
        metadata->value = writer->misfit_width;
        return writer->misfit_width > state->width;
    }
}

static enum step_status report_misfit(const struct metatf_writer *writer,
                                      const struct metatf_record *record, struct step_error *error)
{
    const struct metatf_field *field = &record->fields[writer->misfit];
    const struct metatf_state *state =
        &writer->current->states[record->first_state + writer->misfit];
    return step_error_set(error, STEP_STATUS_LIMIT, NULL, STEP_NO_OFFSET,
                          "%s.%s does not fit how it is stored (%s, %" PRIu32 " bytes)",
                          record->name, field->path,
                          metatf_interpretation_name(state->interpretation), state->width);
}

/* Returns true if metadata were written. */
static bool adapt(struct metatf_writer *writer, const struct metatf_record *record,
                  enum step_status *status, struct step_error *error)
{
    struct metatf_writer_rest *rest = writer->rest;
    struct metatf_metadata metadata;
    if (!rest->options.adapt || rest->attempts++ > 16 * (record->field_count + 1) ||
        !find_metadata(writer, record, &metadata)) {
        *status = report_misfit(writer, record, error);
        return false;
    }
    uint32_t section = (uint32_t) (writer->current - rest->sections);
    writer->misfit = METATF_NO_FIELD;
    *status = metatf_writer_put_metadata(writer, section, &metadata, error);
    return *status == STEP_STATUS_OK;
}

bool metatf_writer_end(struct metatf_writer *writer, uint32_t record, uint8_t *at, uint32_t *misfit,
                       enum step_status *status, struct step_error *error)
{
    struct metatf_writer_rest *rest = writer->rest;
    bool again = false;
    if (at == NULL || writer->out_of_memory)
        metatf_writer_no_memory(writer);
    if (rest->status != STEP_STATUS_OK) {
        *status = metatf_writer_status(writer, error);
        return false;
    }
    if (writer->misfit == METATF_NO_FIELD) {
        struct metatf_writing *run = writer->run;
        size_t size = (size_t) (at - run->data) - run->length;
        writer->position = writer->current->position;
        writer->current->position += size;
        run->length += size;
        rest->attempts = 0;
        rest->records += writer->current->section->records[record].role == METATF_DATA;
        if (run->length >= rest->options.segment_bytes)
            metatf_flush_pieces(writer);
        *status = metatf_writer_status(writer, error);
        return false;
    }
    metatf_writer_roll_back(writer);
    if (writer->misfit == FLUSH_FIRST) {
        writer->misfit = METATF_NO_FIELD;
        metatf_flush_pieces(writer);
        return true;
    }
    if (writer->misfit == NO_SUCH_RECORD) {
        writer->misfit = METATF_NO_FIELD;
        *status = step_error_set(error, STEP_STATUS_LIMIT, NULL, STEP_NO_OFFSET,
                                 "a field strides through a section: %s", NO_NUMBERS);
        return false;
    }
    if (misfit != NULL)
        *misfit = writer->misfit;
    again = adapt(writer, &writer->current->section->records[record], status, error);
    if (!again)
        rest->attempts = 0;
    writer->misfit = METATF_NO_FIELD;
    return again;
}

/* ---- metadata ---- */

/* Returns true if the writer can put numbers where the field strides. */
static bool has_numbers(const struct metatf_writer *writer, const struct metatf_metadata *metadata)
{
    if (metatf_property_interpretation(metadata->property) != STEP_FIELD_SECTION_STRIDE ||
        metadata->value > 255)
        return true;
    const struct metatf_writing *data = writer->split[metadata->value];
    return data == NULL || data->tag_width == 0 ||
           number_record(writer, data, metadata->stride - data->tag_width) != UINT32_MAX;
}

static enum step_status check_values(const struct metatf_writer *writer,
                                     const struct metatf_metadata *metadata,
                                     struct step_error *error)
{
    unsigned bytes = metatf_writer_int_bytes(writer);
    unsigned values = metatf_metadata_values(metadata->property);
    if (metadata->field > UINT8_MAX ||
        (values > 0 && !step_fits_unsigned(metadata->value, bytes)) ||
        (values > 1 && !step_fits_signed(metadata->stride, bytes)))
        return step_error_set(error, STEP_STATUS_LIMIT, NULL, STEP_NO_OFFSET,
                              "metadata: a number is too large for this class of file");
    if (!has_numbers(writer, metadata))
        return step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET, "metadata: %s",
                              NO_NUMBERS);
    return STEP_STATUS_OK;
}

enum step_status metatf_writer_put_metadata(struct metatf_writer *writer, uint32_t section,
                                            const struct metatf_metadata *metadata,
                                            struct step_error *error)
{
    struct metatf_writer_rest *rest = writer->rest;
    const struct metatf_dtd *dtd = rest->options.dtd;
    if (section >= dtd->section_count || dtd->sections[section].is_data)
        return step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET,
                              "metadata: no section with records");
    enum step_status status = check_values(writer, metadata, error);
    if (status != STEP_STATUS_OK)
        return status;
    uint32_t record = record_of_role(&dtd->sections[section], METATF_METADATA);
    uint8_t *at = metatf_writer_begin(writer, section, dtd->sections[section].records[record].tag);
    struct metatf_writing *current = writer->current;
    const char *fault =
        metatf_state_apply(dtd, current->section, current->states, current->cells, metadata);
    if (fault != NULL)
        return step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET, "%s", fault);
    unsigned bytes = metatf_writer_int_bytes(writer);
    unsigned values = metatf_metadata_values(metadata->property);
    if (at != NULL) {
        at = step_number_store(at, metadata->tag, dtd->tag_width, writer->big_endian);
        *at++ = (uint8_t) metadata->field;
        *at++ = metadata->property;
        if (values > 0)
            at = step_number_store(at, metadata->value, bytes, writer->big_endian);
        if (values > 1)
            at = step_number_store(at, metadata->stride, bytes, writer->big_endian);
    }
    uint32_t attempts = rest->attempts;
    metatf_writer_end(writer, record, at, NULL, &status, error);
    rest->attempts = attempts;
    return status;
}
