/* SPDX-License-Identifier: Apache-2.0 */
/* Creation and destruction of a Meta-TF reader, memory of its records, and queries. */
#include <stdlib.h>

#include "format/core/step_no_memory.h"
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

static bool metatf_reader_start(struct metatf_reader *reader, struct metatf_file *file,
                                const struct metatf_dtd *dtd)
{
    struct metatf_reader_rest *rest = calloc(1, sizeof *rest);
    reader->rest = rest;
    reader->credit = step_budget_of(METATF_REPEAT_LIMIT, METATF_VALUES_PER_BYTE, 0);
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
    if (reader == NULL || !metatf_reader_start(reader, file, dtd)) {
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
