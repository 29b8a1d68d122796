/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads HATF's records from Meta-TF files.  Finds records and fields by name, so that any DTD of
 * HATF works: StepTrace's, that of the paper's Appendix C, and that of the slides.
 */
#include <stdlib.h>
#include <string.h>

#include "converter/containers/no_memory.h"
#include "converter/formats/metatf/metatf_format.h"
#include "converter/formats/metatf/metatf_trace.h"
#include "format/core/step_no_memory.h"

/* Destinations of a record's values. */
enum place {
    PLACE_NONE,
    PLACE_SIZE,
    PLACE_ADDRESS,
    PLACE_NEW_ADDRESS,
    PLACE_THREAD,
    PLACE_HEAP,
    PLACE_TIME,
    PLACE_ATTRIBUTES
};

enum { PLACES_MAX = 16, NO_TAG = HATF_TAG_COUNT };

struct mapping {
    const struct metatf_record *record;
    uint8_t tag; /* NO_TAG: not a record of HATF */
    uint8_t places[PLACES_MAX];
};

struct metatf_alloc_source {
    struct alloc_source base;
    struct metatf_trace trace;
    struct mapping *mappings;
    size_t mapping_count;
    size_t last; /* the mapping of the last record, as most records follow one of their own kind */
};

/* ---- names ---- */

static uint8_t tag_of(const struct metatf_record *record)
{
    if (record->role == METATF_COMMENT)
        return HATF_COMMENT;
    if (record->role != METATF_DATA)
        return NO_TAG;
    for (unsigned tag = 0; tag < HATF_COMMENT; tag++)
        if (strcmp(record->name, metatf_heap_records[tag]) == 0)
            return (uint8_t) tag;
    return strcmp(record->name, "realloc") == 0 ? HATF_REALLOC_ALLOC_FREE : NO_TAG;
}

static uint8_t mtf_allocs_place_of(const struct metatf_field *field, bool has_address)
{
    static const struct {
        const char *name;
        uint8_t place;
    } rows[] = {{"size", PLACE_SIZE},
                {"address", PLACE_ADDRESS},
                {"thread", PLACE_THREAD},
                {"heap", PLACE_HEAP},
                {"time", PLACE_TIME}};
    if (field->kind == METATF_BYTES)
        return PLACE_ATTRIBUTES;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(field->name, rows[i].name) == 0)
            return has_address && rows[i].place == PLACE_ADDRESS ? PLACE_NEW_ADDRESS
                                                                 : rows[i].place;
    return PLACE_NONE;
}

static struct mapping map_record(const struct metatf_record *record)
{
    struct mapping mapping = {.record = record, .tag = tag_of(record)};
    bool has_address = false;
    for (uint32_t i = 1; i < record->field_count && i < PLACES_MAX; i++) {
        if (record->fields[i].repeat > 0)
            mapping.tag = NO_TAG;
        mapping.places[i] = mtf_allocs_place_of(&record->fields[i], has_address);
        has_address = has_address || mapping.places[i] == PLACE_ADDRESS;
    }
    return mapping;
}

static enum step_status map_all(struct metatf_alloc_source *source, struct step_error *error)
{
    const struct metatf_dtd *dtd = source->trace.dtd;
    size_t count = 0;
    bool is_heap = false;
    for (uint32_t s = 0; s < dtd->section_count; s++)
        count += dtd->sections[s].record_count;
    source->mappings = malloc((count + 1) * sizeof *source->mappings);
    if (source->mappings == NULL)
        return no_memory(error);
    for (uint32_t s = 0; s < dtd->section_count; s++)
        for (uint32_t r = 0; r < dtd->sections[s].record_count; r++) {
            struct mapping mapping = map_record(&dtd->sections[s].records[r]);
            source->mappings[source->mapping_count++] = mapping;
            is_heap = is_heap || mapping.tag == HATF_ALLOC;
        }
    return is_heap
               ? STEP_STATUS_OK
               : step_error_set(error, STEP_STATUS_UNSUPPORTED, source->trace.path, STEP_NO_OFFSET,
                                "its DTD describes neither a Java trace nor a heap trace");
}

/* ---- records ---- */

static const struct mapping *mtf_allocs_find(struct metatf_alloc_source *source,
                                             const struct metatf_record *record)
{
    for (size_t i = 0; i < source->mapping_count; i++) {
        if (source->mappings[source->last].record == record)
            break;
        source->last = (source->last + 1) % source->mapping_count;
    }
    return &source->mappings[source->last];
}

static void mtf_allocs_take(const struct mapping *mapping, const struct metatf_event *event,
                            struct hatf_record *record)
{
    *record = (struct hatf_record){.tag = (enum hatf_tag) mapping->tag};
    if (mapping->tag == HATF_COMMENT) {
        record->comment = event->values[event->value_count - 1].bytes;
        return;
    }
    for (size_t i = 1; i < event->value_count && i < PLACES_MAX; i++) {
        uint64_t *const numbers[] = {[PLACE_SIZE] = &record->size,
                                     [PLACE_ADDRESS] = &record->address,
                                     [PLACE_NEW_ADDRESS] = &record->new_address,
                                     [PLACE_THREAD] = &record->thread,
                                     [PLACE_HEAP] = &record->heap,
                                     [PLACE_TIME] = &record->time};
        uint8_t place = mapping->places[i];
        if (place == PLACE_ATTRIBUTES)
            record->attributes = event->values[i].bytes;
        else if (place != PLACE_NONE)
            *numbers[place] = event->values[i].number;
    }
    if (record->attributes.length > HATF_ATTRIBUTES_MAX)
        record->attributes.length = HATF_ATTRIBUTES_MAX;
}

static enum step_status mtf_allocs_next(struct alloc_source *base, struct hatf_record *record,
                                        struct step_error *error)
{
    struct metatf_alloc_source *source = (struct metatf_alloc_source *) base;
    struct metatf_event event;
    const struct mapping *mapping;
    do {
        base->offset = metatf_reader_offset(source->trace.reader);
        enum step_status status = metatf_reader_next(source->trace.reader, &event, error);
        if (status != STEP_STATUS_OK)
            return status == STEP_STATUS_LIMIT || status == STEP_STATUS_UNSUPPORTED
                       ? STEP_STATUS_CORRUPT
                       : status;
        mapping = mtf_allocs_find(source, event.record);
    } while (mapping->tag == NO_TAG);
    base->number = metatf_reader_record_number(source->trace.reader) - 1;
    mtf_allocs_take(mapping, &event, record);
    if (record->tag == HATF_COMMENT && record->comment.length > HATF_COMMENT_MAX)
        record->comment.length = HATF_COMMENT_MAX;
    return STEP_STATUS_OK;
}

static double mtf_allocs_progress(struct alloc_source *base)
{
    struct metatf_alloc_source *source = (struct metatf_alloc_source *) base;
    return metatf_trace_progress(&source->trace);
}

static void mtf_allocs_destroy(struct alloc_source *base)
{
    struct metatf_alloc_source *source = (struct metatf_alloc_source *) base;
    metatf_trace_reset(&source->trace);
    free(source->mappings);
    free(source);
}

static const struct alloc_source_operations operations = {
    .next = mtf_allocs_next,
    .progress = mtf_allocs_progress,
    .destroy = mtf_allocs_destroy,
};

enum step_status metatf_alloc_source_create(const char *path, const char *dtd_path,
                                            struct alloc_source **out, struct step_error *error)
{
    struct metatf_alloc_source *source = calloc(1, sizeof *source);
    if (source == NULL)
        return step_no_memory(error, path);
    source->base.operations = &operations;
    source->base.path = path;
    enum step_status status = metatf_trace_open(&source->trace, path, dtd_path, error);
    source->base.about.format = "mtf";
    source->base.about.file_bytes = source->trace.file_bytes;
    if (status == STEP_STATUS_OK)
        status = map_all(source, error);
    if (status == STEP_STATUS_OK)
        *out = &source->base;
    else
        mtf_allocs_destroy(&source->base);
    return status;
}
