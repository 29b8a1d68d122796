/* SPDX-License-Identifier: Apache-2.0 */
/* Advances a Meta-TF reader from piece to piece by the index, and reports errors. */
#include <inttypes.h>

#include "format/metatf/metatf_state.h"

/* ---- errors ---- */

/* Ends reading. */
static enum step_status metatf_walk_stop(struct metatf_reader *reader, enum step_status status,
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
    return metatf_walk_stop(reader, status, error);
}

enum step_status metatf_reader_refuse(struct metatf_reader *reader, const uint8_t *at,
                                      struct step_error *error)
{
    struct metatf_reader_rest *rest = reader->rest;
    uint64_t offset = metatf_stream_offset(&reader->stream, reader->stream.at);
    if (rest->status != STEP_STATUS_OK) /* an error while loading */
        return metatf_walk_stop(reader, rest->status, error);
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

/* Returns true, and the section's index, if pieces with the entry's number contain records. */
static bool has_records(const struct metatf_reader_rest *rest, const struct metatf_entry *entry,
                        uint32_t *section)
{
    *section = metatf_dtd_section(rest->dtd, entry->number);
    return *section != UINT32_MAX && !rest->dtd->sections[*section].is_data;
}

/* A header with 0 records does not know their number. */
static bool check_count(struct metatf_reader *reader)
{
    struct metatf_reader_rest *rest = reader->rest;
    uint64_t reported = rest->file->about.records;
    uint64_t found = reader->record_number - rest->other_count;
    if (reported == 0 || reported == found)
        return true;
    step_error_set(&rest->error, STEP_STATUS_CORRUPT, rest->file->name,
                   METATF_FIXED_BYTES + 2 * metatf_file_ints(rest->file),
                   "the file announces %" PRIu64 " data records, and has %" PRIu64, reported,
                   found);
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
        return status == STEP_STATUS_OK ? status : metatf_walk_stop(reader, status, error);
    }
    if (!rest->file->about.whole)
        return stop_with(reader, STEP_STATUS_CUT, rest->file->input.size,
                         "the file was cut: it has no index", error);
    return check_count(reader) ? metatf_walk_stop(reader, STEP_STATUS_END, error)
                               : metatf_walk_stop(reader, STEP_STATUS_CORRUPT, error);
}

enum step_status metatf_reader_refill(struct metatf_reader *reader, struct step_error *error)
{
    struct metatf_reader_rest *rest = reader->rest;
    struct metatf_stream *stream = &reader->stream;
    for (;;) {
        if (rest->status != STEP_STATUS_OK)
            return metatf_walk_stop(reader, rest->status, error);
        enum step_status status = metatf_stream_load(stream, rest->file, &stream->at, reader->need,
                                                     reader->need + 8, false, &rest->error);
        if (status != STEP_STATUS_OK)
            return metatf_walk_stop(reader, status, error);
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

/* ---- data sections ---- */

/* Returns the number of a data section. */
static uint32_t split_number(const struct metatf_reader *reader, const struct metatf_stream *stream)
{
    uint32_t number = 0;
    while (number < 255 && reader->split[number] != stream)
        number++;
    return number;
}

/* Loads more of a data section, the next piece at the end of one.  No number extends over two
 * pieces. */
bool metatf_reader_split_more(struct metatf_reader *reader, struct metatf_stream *stream,
                              size_t need)
{
    struct metatf_reader_rest *rest = reader->rest;
    uint32_t number = split_number(reader, stream);
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
    uint32_t number = split_number(reader, stream);
    const struct metatf_section *section = &dtd->sections[metatf_dtd_section(dtd, number)];
    uint32_t record = metatf_record_by_tag(section, tag);
    if (record != UINT32_MAX && section->records[record].role == METATF_DATA)
        return true;
    if (reader->fault == NULL)
        reader->fault = "no data record begins where a field strides to";
    return false;
}
