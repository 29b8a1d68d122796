/* SPDX-License-Identifier: Apache-2.0 */
/* What all readers stand on: the walk through the index, and the records that are no data. */
#include <inttypes.h>
#include <stdlib.h>

#include "format/core/no_memory.h"
#include "format/metatf/metatf_state.h"

#define SCRATCH_BYTES_MAX ((size_t) 1 << 28)

/* ---- life ---- */

static bool start_section(struct metatf_reading *reading, const struct metatf_section *section)
{
    reading->section = section;
    reading->states = calloc(section->state_count + 1, sizeof *reading->states);
    reading->cells = calloc(section->cell_count + 1, sizeof *reading->cells);
    if (reading->states == NULL || reading->cells == NULL)
        return false;
    metatf_states_init(section, reading->states, reading->cells);
    for (uint32_t tag = 0; tag < 256; tag++)
        reading->by_tag[tag] = (uint16_t) metatf_record_by_tag(section, tag);
    return true;
}

static bool start(struct metatf_reader *reader, struct metatf_file *file,
                  const struct metatf_dtd *dtd)
{
    struct metatf_reader_rest *rest = calloc(1, sizeof *rest);
    reader->rest = rest;
    if (rest == NULL)
        return false;
    rest->file = file;
    rest->dtd = dtd;
    rest->sections = calloc(dtd->section_count, sizeof *rest->sections);
    rest->last = calloc(METATF_FIELD_LIMIT, sizeof *rest->last);
    bool good = rest->sections != NULL && rest->last != NULL;
    for (uint32_t i = 0; i < dtd->section_count && good; i++) {
        const struct metatf_section *section = &dtd->sections[i];
        good = start_section(&rest->sections[i], section);
        if (!good || section->number == 0)
            continue;
        struct metatf_stream *split = calloc(1, sizeof *split);
        reader->split[section->number] = split;
        good = split != NULL;
        if (good && !section->is_data)
            split->tag_width = dtd->tag_width;
    }
    reader->current = rest->sections;
    reader->need = metatf_record_need(dtd);
    reader->big_endian = file->about.big_endian;
    return good;
}

enum step_status metatf_reader_create(struct metatf_file *file, const struct metatf_dtd *dtd,
                                      struct metatf_reader **out, struct step_error *error)
{
    struct metatf_reader *reader = calloc(1, sizeof *reader);
    *out = NULL;
    if (reader == NULL || !start(reader, file, dtd)) {
        metatf_reader_destroy(reader);
        return step_no_memory(error, file->name);
    }
    *out = reader;
    return STEP_STATUS_OK;
}

static void free_scratch(struct metatf_reader_rest *rest)
{
    while (rest->scratch != NULL) {
        struct metatf_scratch *next = rest->scratch->next;
        free(rest->scratch);
        rest->scratch = next;
    }
}

static void destroy_rest(struct metatf_reader_rest *rest)
{
    for (uint32_t i = 0; rest->sections != NULL && i < rest->dtd->section_count; i++) {
        free(rest->sections[i].states);
        free(rest->sections[i].cells);
    }
    free_scratch(rest);
    step_decompressor_destroy(rest->unpacker.decompressor);
    step_buffer_reset(&rest->unpacker.packed);
    free(rest->sections);
    free(rest->values);
    free(rest->last);
    free(rest);
}

void metatf_reader_destroy(struct metatf_reader *reader)
{
    if (reader == NULL)
        return;
    metatf_stream_reset(&reader->stream);
    for (size_t i = 0; i < 256; i++)
        if (reader->split[i] != NULL) {
            metatf_stream_reset(reader->split[i]);
            free(reader->split[i]);
        }
    if (reader->rest != NULL)
        destroy_rest(reader->rest);
    free(reader);
}

/* ---- errors ---- */

/* Nothing is read any more. */
static enum step_status stop(struct metatf_reader *reader, enum step_status status,
                             struct step_error *error)
{
    reader->rest->status = status;
    reader->stream.at = reader->stream.end;
    reader->stream.left = 0;
    if (error != NULL && status != STEP_STATUS_END)
        *error = reader->rest->error;
    return status;
}

static enum step_status stop_with(struct metatf_reader *reader, enum step_status status,
                                  uint64_t offset, const char *fault, struct step_error *error)
{
    step_error_set(&reader->rest->error, status, reader->rest->file->name, offset,
                   "record %" PRIu64 ": %s", reader->record_number + 1, fault);
    return stop(reader, status, error);
}

enum step_status metatf_reader_refuse(struct metatf_reader *reader, const uint8_t *at,
                                      struct step_error *error)
{
    struct metatf_reader_rest *rest = reader->rest;
    uint64_t offset = metatf_stream_offset(&reader->stream, reader->stream.at);
    if (rest->status != STEP_STATUS_OK) /* an error while more was loaded */
        return stop(reader, rest->status, error);
    enum step_status status = STEP_STATUS_CORRUPT;
    if (reader->fault != NULL && rest->fault_status != STEP_STATUS_OK)
        status = rest->fault_status;
    if (at > reader->stream.end && reader->fault == NULL) {
        reader->fault = reader->stream.is_cut ? "the file ends inside the record"
                                              : "the section ends inside the record";
        status = reader->stream.is_cut ? STEP_STATUS_CUT : STEP_STATUS_CORRUPT;
    }
    return stop_with(reader, status, offset, reader->fault, error);
}

/* ---- the walk ---- */

/* True, and the section's index, if pieces with the entry's number have records. */
static bool has_records(const struct metatf_reader_rest *rest, const struct metatf_entry *entry,
                        uint32_t *section)
{
    *section = metatf_dtd_section(rest->dtd, entry->number);
    return *section != UINT32_MAX && !rest->dtd->sections[*section].is_data;
}

/* A header that tells of 0 records does not know. */
static bool check_count(struct metatf_reader *reader)
{
    struct metatf_reader_rest *rest = reader->rest;
    uint64_t told = rest->file->about.records;
    uint64_t found = reader->record_number - rest->other_count;
    if (told == 0 || told == found)
        return true;
    step_error_set(&rest->error, STEP_STATUS_CORRUPT, rest->file->name,
                   METATF_FIXED_BYTES + 2 * metatf_file_ints(rest->file),
                   "the file tells of %" PRIu64 " data records, and has %" PRIu64, told, found);
    return false;
}

static enum step_status next_piece(struct metatf_reader *reader, struct step_error *error)
{
    struct metatf_reader_rest *rest = reader->rest;
    struct metatf_stream *stream = &reader->stream;
    while (stream->next_entry < rest->file->entry_count) {
        const struct metatf_entry *entry = &rest->file->entries[stream->next_entry++];
        uint32_t section;
        if (entry->number == METATF_DTD_SECTION)
            continue;
        if (!has_records(rest, entry, &section)) {
            if (section == UINT32_MAX)
                return stop_with(reader, STEP_STATUS_CORRUPT, entry->start,
                                 "a section that the DTD does not have", error);
            continue;
        }
        reader->current = &rest->sections[section];
        enum step_status status = metatf_stream_open(stream, rest->file, entry, &rest->unpacker,
                                                     reader->need + 8, &rest->error);
        return status == STEP_STATUS_OK ? status : stop(reader, status, error);
    }
    if (!rest->file->about.whole)
        return stop_with(reader, STEP_STATUS_CUT, rest->file->input.size,
                         "the file was cut: it has no index", error);
    return check_count(reader) ? stop(reader, STEP_STATUS_END, error)
                               : stop(reader, STEP_STATUS_CORRUPT, error);
}

enum step_status metatf_reader_refill(struct metatf_reader *reader, struct step_error *error)
{
    struct metatf_reader_rest *rest = reader->rest;
    struct metatf_stream *stream = &reader->stream;
    for (;;) {
        if (rest->status != STEP_STATUS_OK)
            return stop(reader, rest->status, error);
        enum step_status status = metatf_stream_load(stream, rest->file, &stream->at, reader->need,
                                                     reader->need + 8, false, &rest->error);
        if (status != STEP_STATUS_OK)
            return stop(reader, status, error);
        if (stream->at < stream->end)
            return STEP_STATUS_OK;
        if (stream->is_cut)
            return stop_with(reader, STEP_STATUS_CUT, metatf_stream_offset(stream, stream->at),
                             "the section ends past the end of the file", error);
        status = next_piece(reader, error);
        if (status != STEP_STATUS_OK)
            return status;
    }
}

bool metatf_reader_more(struct metatf_reader *reader, const uint8_t **at, uint64_t length)
{
    struct metatf_stream *stream = &reader->stream;
    struct metatf_reader_rest *rest = reader->rest;
    if (reader->fault != NULL)
        return false;
    if (length <= METATF_RECORD_BYTES_MAX && *at <= stream->end) {
        enum step_status status = metatf_stream_load(stream, rest->file, at, length + reader->need,
                                                     reader->need + 8, true, &rest->error);
        if (status != STEP_STATUS_OK) {
            rest->status = status;
            reader->fault = "cannot read on";
            return false;
        }
        if (length <= (uint64_t) (stream->end - *at))
            return true;
    }
    bool cut = stream->is_cut && length <= METATF_RECORD_BYTES_MAX;
    rest->fault_status = cut ? STEP_STATUS_CUT : STEP_STATUS_CORRUPT;
    reader->fault = length > METATF_RECORD_BYTES_MAX ? "a field is too long"
                    : cut                            ? "the file ends inside the record"
                                                     : "the section ends inside the record";
    return false;
}

/* More of a data section: the next piece once one is at its end.  No number lies in two. */
bool metatf_reader_split_more(struct metatf_reader *reader, struct metatf_stream *stream,
                              size_t need)
{
    struct metatf_reader_rest *rest = reader->rest;
    uint32_t number = 0;
    while (number < 255 && reader->split[number] != stream)
        number++;
    while (reader->fault == NULL) {
        enum step_status status = metatf_stream_load(stream, rest->file, &stream->at, need,
                                                     reader->need + 8, false, &rest->error);
        if (status == STEP_STATUS_OK && (size_t) (stream->end - stream->at) >= need)
            return true;
        while (stream->next_entry < rest->file->entry_count &&
               rest->file->entries[stream->next_entry].number != number)
            stream->next_entry++;
        if (status == STEP_STATUS_OK &&
            (stream->at < stream->end || stream->next_entry == rest->file->entry_count)) {
            reader->fault = "a data section has too few numbers";
            rest->fault_status =
                rest->file->about.whole && !stream->is_cut ? STEP_STATUS_CORRUPT : STEP_STATUS_CUT;
            break;
        }
        if (status == STEP_STATUS_OK)
            status =
                metatf_stream_open(stream, rest->file, &rest->file->entries[stream->next_entry++],
                                   &rest->unpacker, reader->need + 8, &rest->error);
        if (status != STEP_STATUS_OK) {
            rest->status = status;
            reader->fault = "cannot read on";
        }
    }
    return false;
}

bool metatf_reader_split_tag(struct metatf_reader *reader, const struct metatf_stream *stream)
{
    const struct metatf_dtd *dtd = reader->rest->dtd;
    uint64_t tag = step_number_load(stream->at, stream->tag_width, reader->big_endian);
    uint32_t number = 0;
    while (number < 255 && reader->split[number] != stream)
        number++;
    const struct metatf_section *section = &dtd->sections[metatf_dtd_section(dtd, number)];
    uint32_t record = metatf_record_by_tag(section, tag);
    if (record != UINT32_MAX && section->records[record].role == METATF_DATA)
        return true;
    if (reader->fault == NULL)
        reader->fault = "no data record begins where a field strides to";
    return false;
}

/* ---- memory of a record ---- */

void *metatf_reader_scratch(struct metatf_reader *reader, uint64_t count, size_t size)
{
    struct metatf_scratch *scratch = NULL;
    if (count <= SCRATCH_BYTES_MAX / size)
        scratch = malloc(sizeof *scratch + (size_t) count * size + 1);
    if (scratch == NULL) {
        if (reader->fault == NULL)
            reader->fault = "a record takes too much memory";
        return NULL;
    }
    scratch->next = reader->rest->scratch;
    reader->rest->scratch = scratch;
    reader->holds = true;
    return scratch->memory;
}

void metatf_reader_release(struct metatf_reader *reader)
{
    metatf_stream_retire(&reader->stream);
    free_scratch(reader->rest);
    reader->holds = false;
}

/* ---- records that are no data ---- */

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
        return NULL; /* told by the commit */
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

/* ---- what is asked of a reader ---- */

uint64_t metatf_reader_record_number(const struct metatf_reader *reader)
{
    return reader->record_number;
}

uint64_t metatf_reader_offset(const struct metatf_reader *reader)
{
    return metatf_stream_offset(&reader->stream, reader->stream.at);
}

enum step_status metatf_reader_check(const struct metatf_reader *reader,
                                     const struct metatf_dtd *dtd, struct step_error *error)
{
    if (metatf_dtd_equal(reader->rest->dtd, dtd))
        return STEP_STATUS_OK;
    return step_error_set(error, STEP_STATUS_UNSUPPORTED, reader->rest->file->name, STEP_NO_OFFSET,
                          "the trace has another DTD than the one that this reader was made from");
}
