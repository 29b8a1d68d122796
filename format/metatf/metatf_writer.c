/* SPDX-License-Identifier: Apache-2.0 */
/* Creation and end of a Meta-TF writer: options, section buffers, closing. */
#include <inttypes.h>
#include <stdlib.h>

#include "format/core/step_no_memory.h"
#include "format/metatf/metatf_writing.h"

#define SEGMENT_BYTES ((size_t) 1 << 18)
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

static bool metatf_writer_start(struct metatf_writer *writer,
                                const struct metatf_writer_options *options)
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
    if (writer == NULL || !metatf_writer_start(writer, options)) {
        metatf_writer_destroy(writer);
        return step_no_memory(error, NULL);
    }
    struct metatf_writer_rest *rest = writer->rest;
    size_t header = METATF_FIXED_BYTES + metatf_entry_bytes(writer) + strlen(rest->dtd_name);
    if (options->layout != METATF_INDEX)
        metatf_write_header(writer, 0, header, 0);
    if (options->embed_dtd)
        metatf_write_dtd(writer);
    enum step_status status = metatf_writer_status(writer, error);
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
        step_buffer_reset(&rest->body);
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
                              "section %" PRIu32 " cannot be compressed in this way", section);
    if (compression != STEP_COMPRESSION_NONE)
        rest->options.compression = compression;
    rest->sections[index].compression = compression;
    return STEP_STATUS_OK;
}

/* ---- the end ---- */

enum step_status metatf_writer_flush(struct metatf_writer *writer, struct step_error *error)
{
    metatf_flush_pieces(writer);
    return metatf_writer_status(writer, error);
}

enum step_status metatf_writer_close(struct metatf_writer *writer, struct step_error *error)
{
    struct metatf_writer_rest *rest = writer->rest;
    metatf_flush_pieces(writer);
    if (rest->options.layout == METATF_INDEX) {
        rest->is_closed = true;
        rest->header_bytes = METATF_FIXED_BYTES + metatf_entry_bytes(writer) +
                             strlen(rest->dtd_name) +
                             rest->entry_count * metatf_entry_bytes(writer);
        metatf_write_header(writer, rest->entry_count, rest->header_bytes, rest->records);
        metatf_write_index(writer);
        metatf_write_out(writer, rest->body.data, rest->body.length);
    } else if (rest->options.layout == METATF_SEGMENTS) {
        metatf_write_index(writer);
    }
    return metatf_writer_status(writer, error);
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
