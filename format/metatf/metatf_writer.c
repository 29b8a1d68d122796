/* SPDX-License-Identifier: Apache-2.0 */
/* What all writers stand on: sections' buffers, pieces, index, and the journal of a record. */
#include <inttypes.h>
#include <stdlib.h>

#include "format/core/no_memory.h"
#include "format/metatf/metatf_writing.h"

#define SEGMENT_BYTES ((size_t) 1 << 18)
#define COMMENT_BYTES 255u
#define JOURNAL_START 256u

void metatf_writer_options_init(struct metatf_writer_options *options)
{
    *options = (struct metatf_writer_options){.layout = METATF_SEGMENTS,
                                              .wide = true,
                                              .big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,
                                              .embed_dtd = true,
                                              .adapt = true,
                                              .compression = STEP_COMPRESSION_NONE,
                                              .dtd_name = ""};
}

static enum step_status give_status(const struct metatf_writer *writer, struct step_error *error)
{
    if (writer->rest->status != STEP_STATUS_OK && error != NULL)
        *error = writer->rest->error;
    return writer->rest->status;
}

static enum step_status fail(struct metatf_writer *writer, enum step_status status,
                             const char *message)
{
    if (writer->rest->status == STEP_STATUS_OK)
        writer->rest->status =
            step_error_set(&writer->rest->error, status, NULL, STEP_NO_OFFSET, "%s", message);
    return writer->rest->status;
}

/* ---- output ---- */

static bool grow(struct metatf_writing *writing, size_t extra)
{
    if (extra <= writing->capacity - writing->length)
        return true;
    if (extra > SIZE_MAX / 4 - writing->capacity)
        return false;
    size_t capacity = writing->capacity + writing->capacity / 2 + extra + 64;
    uint8_t *data = realloc(writing->data, capacity);
    if (data == NULL)
        return false;
    writing->data = data;
    writing->capacity = capacity;
    return true;
}

static void write_out(struct metatf_writer *writer, const void *data, size_t length)
{
    struct metatf_writer_rest *rest = writer->rest;
    rest->offset += length;
    if (rest->status != STEP_STATUS_OK || length == 0)
        return;
    if (rest->options.layout != METATF_INDEX || rest->is_closed) {
        rest->status =
            rest->options.output.write(rest->options.output.user, data, length, &rest->error);
    } else if (!grow(&rest->body, length)) {
        fail(writer, STEP_STATUS_NO_MEMORY, "out of memory");
    } else {
        memcpy(rest->body.data + rest->body.length, data, length);
        rest->body.length += length;
    }
}

static unsigned int_bytes(const struct metatf_writer *writer)
{
    return metatf_int_bytes(writer->rest->options.wide, writer->rest->options.short_ints);
}

static uint8_t *store_int(struct metatf_writer *writer, uint8_t *out, uint64_t number)
{
    if (int_bytes(writer) == 4 && number > INT32_MAX)
        fail(writer, STEP_STATUS_LIMIT, "a file with ints of 4 bytes ends at 2 GiB");
    return step_number_store(out, number, int_bytes(writer), writer->big_endian);
}

static uint8_t *store_entry(struct metatf_writer *writer, uint8_t *out,
                            const struct metatf_entry *entry)
{
    out = store_int(writer, out, entry->number | (uint64_t) entry->method << METATF_METHOD_SHIFT);
    out = store_int(writer, out, entry->start);
    return store_int(writer, out, entry->size);
}

/* ---- the header ---- */

static size_t entry_bytes(const struct metatf_writer *writer)
{
    return 3 * int_bytes(writer);
}

static void write_header(struct metatf_writer *writer, uint64_t sections, uint64_t start,
                         uint64_t records)
{
    struct metatf_writer_rest *rest = writer->rest;
    uint8_t bytes[METATF_FIXED_BYTES + 24 + 8] = METATF_MAGIC;
    bytes[4] = rest->options.wide ? 2 : 1;
    bytes[5] = writer->big_endian ? 2 : 1;
    bytes[6] = (uint8_t) strlen(rest->dtd_name);
    bytes[7] = rest->options.layout == METATF_SEGMENTS ? METATF_FLAG_SEGMENTS : 0;
    uint8_t *at = store_int(writer, bytes + METATF_FIXED_BYTES, sections);
    at = store_int(writer, at, start);
    at = store_int(writer, at, records);
    write_out(writer, bytes, (size_t) (at - bytes));
    write_out(writer, rest->dtd_name, strlen(rest->dtd_name));
}

/* ---- pieces ---- */

static bool add_entry(struct metatf_writer *writer, const struct metatf_entry *entry)
{
    struct metatf_writer_rest *rest = writer->rest;
    if (rest->entry_count == rest->entry_capacity) {
        uint64_t capacity = rest->entry_capacity * 2 + 64;
        struct metatf_entry *entries = realloc(rest->entries, capacity * sizeof *entries);
        if (entries == NULL)
            return false;
        rest->entries = entries;
        rest->entry_capacity = capacity;
    }
    rest->entries[rest->entry_count++] = *entry;
    return true;
}

/* Writes a piece, with a header of its own where the layout has them. */
static void write_piece(struct metatf_writer *writer, uint32_t number, uint32_t method,
                        const void *data, size_t length)
{
    struct metatf_writer_rest *rest = writer->rest;
    uint8_t bytes[24 + 8];
    bool has_header = rest->options.layout == METATF_SEGMENTS;
    struct metatf_entry entry = {.number = number,
                                 .method = method,
                                 .start = rest->offset + (has_header ? entry_bytes(writer) : 0),
                                 .size = length};
    if (has_header)
        write_out(writer, bytes, (size_t) (store_entry(writer, bytes, &entry) - bytes));
    write_out(writer, data, length);
    if (number != METATF_INDEX_SECTION && !add_entry(writer, &entry))
        fail(writer, STEP_STATUS_NO_MEMORY, "out of memory");
}

static void flush_section(struct metatf_writer *writer, struct metatf_writing *writing)
{
    struct metatf_writer_rest *rest = writer->rest;
    size_t length = writing->length;
    writing->length = 0;
    if (length == 0)
        return;
    if (writing->compression == STEP_COMPRESSION_NONE || length > METATF_SEGMENT_BYTES_MAX) {
        write_piece(writer, writing->section->number, STEP_COMPRESSION_NONE, writing->data, length);
        return;
    }
    enum step_compression method;
    rest->packed.length = 0;
    if (rest->compressor == NULL &&
        step_compressor_create(rest->options.compression, rest->options.level, &rest->compressor) !=
            STEP_STATUS_OK)
        fail(writer, STEP_STATUS_NO_MEMORY, "out of memory");
    if (rest->status == STEP_STATUS_OK && step_buffer_reserve(&rest->packed, 16)) {
        rest->packed.length =
            (size_t) (store_int(writer, rest->packed.data, length) - rest->packed.data);
        rest->status =
            step_compress(rest->compressor, writing->data, length, &rest->packed, &method);
    }
    if (rest->status != STEP_STATUS_OK)
        return;
    if (method == STEP_COMPRESSION_NONE)
        write_piece(writer, writing->section->number, STEP_COMPRESSION_NONE, writing->data, length);
    else
        write_piece(writer, writing->section->number, method, rest->packed.data,
                    rest->packed.length);
}

static void flush(struct metatf_writer *writer)
{
    struct metatf_writer_rest *rest = writer->rest;
    if (rest->options.layout == METATF_RECORDS) {
        write_out(writer, rest->run.data, rest->run.length);
        rest->run.length = 0;
        return;
    }
    /* by number: the DTD may have them in any order */
    for (uint32_t number = 0; number < 256; number++) {
        uint32_t index = metatf_dtd_section(rest->options.dtd, number);
        if (index != UINT32_MAX)
            flush_section(writer, &rest->sections[index]);
    }
}

static void write_dtd(struct metatf_writer *writer)
{
    const struct metatf_dtd *dtd = writer->rest->options.dtd;
    struct metatf_writing text = {0};
    for (size_t at = 0; at < dtd->text_length;) {
        size_t length = dtd->text_length - at;
        if (length > COMMENT_BYTES)
            length = COMMENT_BYTES;
        if (!grow(&text, length + 2)) {
            fail(writer, STEP_STATUS_NO_MEMORY, "out of memory");
            break;
        }
        text.data[text.length] = 1;
        text.data[text.length + 1] = (uint8_t) length;
        memcpy(text.data + text.length + 2, dtd->text + at, length);
        text.length += length + 2;
        at += length;
    }
    write_piece(writer, METATF_DTD_SECTION, STEP_COMPRESSION_NONE, text.data, text.length);
    free(text.data);
}

/* ---- life ---- */

static bool start_section(struct metatf_writing *writing, const struct metatf_section *section,
                          enum step_compression compression)
{
    writing->section = section;
    writing->compression = compression;
    writing->states = calloc(section->state_count + 1, sizeof *writing->states);
    writing->cells = calloc(section->cell_count + 1, sizeof *writing->cells);
    writing->users = malloc((section->state_count + 1) * sizeof *writing->users);
    if (writing->states == NULL || writing->cells == NULL || writing->users == NULL)
        return false;
    metatf_states_init(section, writing->states, writing->cells);
    for (uint32_t i = 0; i < section->state_count; i++)
        writing->users[i] = METATF_NO_FIELD;
    for (uint32_t r = 0; r < section->record_count; r++) {
        const struct metatf_record *record = &section->records[r];
        for (uint32_t f = record->field_count; f-- > 0;)
            if (record->fields[f].width_field != METATF_NO_FIELD)
                writing->users[record->first_state + record->fields[f].width_field] = f;
    }
    return true;
}

static bool start(struct metatf_writer *writer, const struct metatf_writer_options *options)
{
    struct metatf_writer_rest *rest = calloc(1, sizeof *rest);
    const struct metatf_dtd *dtd = options->dtd;
    writer->rest = rest;
    if (rest == NULL)
        return false;
    rest->options = *options;
    if (rest->options.segment_bytes == 0)
        rest->options.segment_bytes = SEGMENT_BYTES;
    memcpy(rest->dtd_name, options->dtd_name, strnlen(options->dtd_name, 255));
    rest->sections = calloc(dtd->section_count, sizeof *rest->sections);
    rest->last = calloc(METATF_FIELD_LIMIT, sizeof *rest->last);
    bool good = rest->sections != NULL && rest->last != NULL;
    for (uint32_t i = 0; i < dtd->section_count && good; i++) {
        good = start_section(&rest->sections[i], &dtd->sections[i], options->compression);
        if (dtd->sections[i].number > 0)
            writer->split[dtd->sections[i].number] = &rest->sections[i];
        rest->sections[i].tag_width = dtd->sections[i].is_data ? 0 : dtd->tag_width;
    }
    writer->need = metatf_record_need(dtd);
    writer->big_endian = options->big_endian;
    writer->misfit = METATF_NO_FIELD;
    writer->undo_capacity = JOURNAL_START + 4 * (size_t) writer->need;
    writer->undo = malloc(writer->undo_capacity * sizeof *writer->undo);
    writer->current = rest->sections;
    return good && writer->undo != NULL;
}

enum step_status metatf_writer_create(const struct metatf_writer_options *options,
                                      struct metatf_writer **out, struct step_error *error)
{
    *out = NULL;
    if (options->layout == METATF_SEGMENTS && options->wide && options->short_ints)
        return step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET,
                              "segments of class 2 have ints of 8 bytes");
    if (options->layout == METATF_RECORDS &&
        (options->embed_dtd || options->compression != STEP_COMPRESSION_NONE))
        return step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET,
                              "a file without an index has no DTD in it and is not compressed");
    for (uint32_t i = 0; i < options->dtd->section_count; i++)
        if (options->layout == METATF_RECORDS && options->dtd->sections[i].is_data)
            return step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET,
                                  "a file without an index has no room for section %s",
                                  options->dtd->sections[i].name);
    struct metatf_writer *writer = calloc(1, sizeof *writer);
    if (writer == NULL || !start(writer, options)) {
        metatf_writer_destroy(writer);
        return step_no_memory(error, NULL);
    }
    struct metatf_writer_rest *rest = writer->rest;
    size_t header = METATF_FIXED_BYTES + entry_bytes(writer) + strlen(rest->dtd_name);
    if (options->layout != METATF_INDEX)
        write_header(writer, 0, header, 0);
    if (options->embed_dtd)
        write_dtd(writer);
    enum step_status status = give_status(writer, error);
    if (status != STEP_STATUS_OK) {
        metatf_writer_destroy(writer);
        return status;
    }
    *out = writer;
    return STEP_STATUS_OK;
}

void metatf_writer_destroy(struct metatf_writer *writer)
{
    if (writer == NULL)
        return;
    struct metatf_writer_rest *rest = writer->rest;
    for (uint32_t i = 0;
         rest != NULL && rest->sections != NULL && i < rest->options.dtd->section_count; i++) {
        free(rest->sections[i].states);
        free(rest->sections[i].cells);
        free(rest->sections[i].users);
        free(rest->sections[i].data);
    }
    if (rest != NULL) {
        step_compressor_destroy(rest->compressor);
        step_buffer_reset(&rest->packed);
        free(rest->sections);
        free(rest->run.data);
        free(rest->body.data);
        free(rest->entries);
        free(rest->last);
        free(rest);
    }
    free(writer->undo);
    free(writer);
}

enum step_status metatf_writer_set_compression(struct metatf_writer *writer, uint32_t section,
                                               enum step_compression compression,
                                               struct step_error *error)
{
    struct metatf_writer_rest *rest = writer->rest;
    uint32_t index = metatf_dtd_section(rest->options.dtd, section);
    if (index == UINT32_MAX || rest->options.layout == METATF_RECORDS ||
        (compression != STEP_COMPRESSION_NONE && compression != rest->options.compression &&
         rest->options.compression != STEP_COMPRESSION_NONE))
        return step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET,
                              "section %" PRIu32 " cannot be compressed so", section);
    if (compression != STEP_COMPRESSION_NONE)
        rest->options.compression = compression;
    rest->sections[index].compression = compression;
    return STEP_STATUS_OK;
}

/* ---- a record ---- */

bool metatf_writer_room(struct metatf_writer *writer, uint8_t **at, uint64_t length)
{
    struct metatf_writing *run = writer->run;
    size_t used = (size_t) (*at - run->data);
    if (length <= run->capacity - used && writer->need <= run->capacity - used - length)
        return true;
    size_t committed = run->length;
    run->length = used;
    bool good = length <= METATF_RECORD_BYTES_MAX && grow(run, (size_t) length + writer->need);
    run->length = committed;
    if (!good)
        writer->out_of_memory = true;
    *at = run->data + used;
    return good;
}

/* The misfit of a record that has to stand behind a flush. */
#define FLUSH_FIRST (METATF_NO_FIELD - 1)
/* That of one that no metadata help: see metatf_put_split_record(). */
#define NO_SUCH_RECORD (METATF_NO_FIELD - 2)
#define NO_NUMBERS                                                                                 \
    "no record there is a tag and a number as wide as the stride, or its section is not apart"

/* Numbers are taken in the order in which records are read, so what a data section holds between
 * two flushes is all of one section. */
bool metatf_writer_split_room(struct metatf_writer *writer, struct metatf_writing *data)
{
    if (data->owner != writer->current && data->length > 0) {
        if (writer->misfit == METATF_NO_FIELD)
            writer->misfit = FLUSH_FIRST;
        return false;
    }
    data->owner = writer->current;
    if (!grow(data, 2 * STEP_FIELD_WIDTH_MAX))
        writer->out_of_memory = true;
    return !writer->out_of_memory;
}

/* The record of nothing but the tag and a number that is stored as it is, of so many bytes; or
 * UINT32_MAX: there is none, or it cannot be put apart. */
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

/* Room for `count` fields more, four rows each. */
bool metatf_writer_undo_room(struct metatf_writer *writer, uint64_t count)
{
    size_t need = writer->undo_count + 4 * ((size_t) count + writer->need);
    if (need <= writer->undo_capacity)
        return true;
    size_t capacity = need + need / 2;
    struct metatf_undo *undo = realloc(writer->undo, capacity * sizeof *undo);
    if (undo == NULL) {
        writer->out_of_memory = true;
        return false;
    }
    writer->undo = undo;
    writer->undo_capacity = capacity;
    return true;
}

/* In a file without an index each change of the section is told by a record. */
static bool switch_section(struct metatf_writer *writer, struct metatf_writing *section)
{
    struct metatf_writing *old = writer->current;
    struct metatf_writer_rest *rest = writer->rest;
    bool in_one_run = rest->options.layout == METATF_RECORDS;
    writer->run = in_one_run ? &rest->run : section;
    writer->current = section;
    if (!in_one_run || old == section)
        return grow(writer->run, writer->need);
    if (!grow(writer->run, 2 * (size_t) writer->need))
        return false;
    const struct metatf_section *from = old->section;
    uint8_t *at = rest->run.data + rest->run.length;
    uint8_t *start = at;
    for (uint32_t i = 0; i < from->record_count; i++)
        if (from->records[i].role == METATF_SECTION)
            at = step_number_store(at, from->records[i].tag, rest->options.dtd->tag_width,
                                   writer->big_endian);
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

/* The metadata that let the field take the value, or take it at the next attempt. */
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

/* True: metadata were put. */
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
        fail(writer, STEP_STATUS_NO_MEMORY, "out of memory");
    if (rest->status != STEP_STATUS_OK) {
        *status = give_status(writer, error);
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
            flush(writer);
        *status = give_status(writer, error);
        return false;
    }
    metatf_writer_roll_back(writer);
    if (writer->misfit == FLUSH_FIRST) {
        writer->misfit = METATF_NO_FIELD;
        flush(writer);
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

/* Can the writer put there what the field strides to? */
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
    unsigned bytes = int_bytes(writer);
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

static uint64_t metadata_tag(const struct metatf_section *section)
{
    uint64_t tag = 0;
    for (uint32_t i = 0; i < section->record_count; i++)
        if (section->records[i].role == METATF_METADATA)
            tag = section->records[i].tag;
    return tag;
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
    uint8_t *at = metatf_writer_begin(writer, section, metadata_tag(&dtd->sections[section]));
    struct metatf_writing *current = writer->current;
    const char *fault =
        metatf_state_apply(dtd, current->section, current->states, current->cells, metadata);
    if (fault != NULL)
        return step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET, "%s", fault);
    unsigned bytes = int_bytes(writer);
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
    metatf_writer_end(writer,
                      metatf_record_by_tag(current->section, metadata_tag(current->section)), at,
                      NULL, &status, error);
    rest->attempts = attempts;
    return status;
}

/* ---- the end ---- */

static void write_index(struct metatf_writer *writer)
{
    struct metatf_writer_rest *rest = writer->rest;
    uint8_t bytes[24 + 8];
    struct metatf_writing index = {0};
    for (uint64_t i = 0; i < rest->entry_count; i++) {
        if (!grow(&index, entry_bytes(writer) + 32)) {
            fail(writer, STEP_STATUS_NO_MEMORY, "out of memory");
            break;
        }
        if (i == 0 && rest->options.layout == METATF_SEGMENTS)
            index.length = (size_t) (store_int(writer, index.data, rest->records) - index.data);
        struct metatf_entry entry = rest->entries[i];
        entry.start += rest->header_bytes; /* 0, but for METATF_INDEX */
        index.length =
            (size_t) (store_entry(writer, index.data + index.length, &entry) - index.data);
    }
    if (rest->options.layout == METATF_INDEX) {
        write_out(writer, index.data, index.length);
    } else {
        if (index.length == 0 && grow(&index, 16))
            index.length = (size_t) (store_int(writer, index.data, rest->records) - index.data);
        struct metatf_entry entry = {.number = METATF_INDEX_SECTION,
                                     .start = rest->offset + entry_bytes(writer),
                                     .size = index.length};
        write_piece(writer, METATF_INDEX_SECTION, 0, index.data, index.length);
        write_out(writer, bytes, (size_t) (store_entry(writer, bytes, &entry) - bytes));
    }
    free(index.data);
}

enum step_status metatf_writer_flush(struct metatf_writer *writer, struct step_error *error)
{
    flush(writer);
    return give_status(writer, error);
}

enum step_status metatf_writer_close(struct metatf_writer *writer, struct step_error *error)
{
    struct metatf_writer_rest *rest = writer->rest;
    flush(writer);
    if (rest->options.layout == METATF_INDEX) {
        rest->is_closed = true;
        rest->header_bytes = METATF_FIXED_BYTES + entry_bytes(writer) + strlen(rest->dtd_name) +
                             rest->entry_count * entry_bytes(writer);
        write_header(writer, rest->entry_count, rest->header_bytes, rest->records);
        write_index(writer);
        write_out(writer, rest->body.data, rest->body.length);
    } else if (rest->options.layout == METATF_SEGMENTS) {
        write_index(writer);
    }
    return give_status(writer, error);
}

uint64_t metatf_writer_position(const struct metatf_writer *writer)
{
    return writer->position;
}

enum step_status metatf_writer_check(const struct metatf_writer *writer,
                                     const struct metatf_dtd *dtd, struct step_error *error)
{
    if (metatf_dtd_equal(writer->rest->options.dtd, dtd))
        return STEP_STATUS_OK;
    return step_error_set(error, STEP_STATUS_UNSUPPORTED, NULL, STEP_NO_OFFSET,
                          "the writer has another DTD than the one that its code was made from");
}
