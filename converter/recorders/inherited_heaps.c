/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds inherited objects to the traces of forked children.  Reads a parent's trace once; at each
 * fork, writes the live objects as allocations at time 0 without a thread, followed by the child's
 * records.
 */
#include "converter/recorders/recorded_traces.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/cli/error_report.h"
#include "converter/containers/address_map.h"
#include "converter/containers/name_index.h"
#include "converter/files/trace_files.h"
#include "converter/files/trace_gap.h"
#include "converter/formats/format_table.h"
#include "converter/formats/input.h"
#include "converter/output/trace_output.h"
#include "converter/records/copy_trace.h"
#include "converter/trace/alloc_source.h"
#include "converter/trace/recorded_calls.h"
#include "steptrace/hatf.h"
#include "steptrace/hatf_trace.h"

struct living_blocks {
    struct address_map blocks; /* `record` is the number of the attributes */
    struct address_map heaps;  /* heap ids */
    struct name_index texts;
};

static void living_blocks_reset(struct living_blocks *living)
{
    name_index_reset(&living->texts);
    address_map_reset(&living->blocks);
    address_map_reset(&living->heaps);
}

/* Returns 0 if memory runs out. */
static uint32_t inherited_keep_text(struct living_blocks *living, struct step_bytes text)
{
    bool is_new;
    return name_index_put(&living->texts, 0, text, &is_new);
}

static bool inherited_put_block(struct living_blocks *living, const struct hatf_record *record)
{
    uint32_t text = inherited_keep_text(living, record->attributes);
    const struct address_block block = {
        .address = record->address, .size = record->size, .heap = record->heap, .record = text};
    return text != 0 && address_map_put(&living->blocks, &block);
}

static void resize_block(struct living_blocks *living, const struct hatf_record *record)
{
    struct address_block *block = address_map_find(&living->blocks, record->address);
    if (block != NULL)
        address_map_resize(&living->blocks, block, record->size);
}

/* Adds a record of any tag.  Returns false if memory runs out. */
static bool living_blocks_put(struct living_blocks *living, const struct hatf_record *record)
{
    const struct address_block heap = {.address = record->heap};
    switch (record->tag) {
    case HATF_ALLOC:
        return inherited_put_block(living, record);
    case HATF_FREE:
        address_map_remove(&living->blocks, record->address);
        return true;
    case HATF_REALLOC_NO_ALLOC:
        resize_block(living, record);
        return true;
    case HATF_CREATE_HEAP:
        return address_map_put(&living->heaps, &heap);
    case HATF_DESTROY_HEAP:
        address_map_remove(&living->heaps, record->heap);
        address_map_remove_heap(&living->blocks, record->heap);
        return true;
    default:
        return true;
    }
}

#define STREAM 0u /* stream 0 is first among records of equal time */

struct forked_child {
    struct recorded_trace *trace;
    uint64_t forked_ns; /* time in the parent's trace */
};

/* ---- a child's trace ---- */

/* Writes dictionary entries for the texts on first use; 0: not written yet. */
static enum step_status inherited_define(struct step_writer *writer, struct step_bytes attributes,
                                         uint64_t *entry)
{
    static uint8_t text[HATF_ATTRIBUTES_MAX + RECORDED_CALL_EXISTING_BYTES];
    if (*entry != 0)
        return STEP_STATUS_OK;
    size_t length = recorded_call_put_existing(attributes, text);
    const struct step_heap_attributes value = {
        {text, length < HATF_ATTRIBUTES_MAX ? length : HATF_ATTRIBUTES_MAX}};
    return step_heap_attributes_define(writer, &value, entry);
}

static enum step_status put_heaps(const struct living_blocks *living, struct step_writer *writer)
{
    enum step_status status = STEP_STATUS_OK;
    const struct address_block *heap = address_map_from(&living->heaps, 0);
    for (; heap != NULL && status == STEP_STATUS_OK;
         heap = address_map_from(&living->heaps, heap->address + 1)) {
        const struct step_heap_heap_create record = {.heap = heap->address};
        status = step_heap_heap_create_put(writer, STREAM, &record);
    }
    return status;
}

static enum step_status put_blocks(const struct living_blocks *living, struct step_writer *writer)
{
    uint64_t *entries = calloc(living->texts.count + 1, sizeof *entries);
    enum step_status status = entries != NULL ? STEP_STATUS_OK : STEP_STATUS_NO_MEMORY;
    const struct address_block *block = address_map_from(&living->blocks, 0);
    while (block != NULL && status == STEP_STATUS_OK) {
        uint64_t *entry = &entries[block->record];
        status = inherited_define(writer, living->texts.entries[block->record].text, entry);
        const struct step_heap_alloc record = {.attributes = *entry,
                                               .heap = block->heap,
                                               .size = block->size,
                                               .address = block->address};
        if (status == STEP_STATUS_OK)
            status = step_heap_alloc_put(writer, STREAM, &record);
        block = block->address != UINT64_MAX ? address_map_from(&living->blocks, block->address + 1)
                                             : NULL;
    }
    free(entries);
    return status;
}

static enum step_status inherited_put_number(struct step_writer *writer, const char *key,
                                             uint64_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, number);
    return step_writer_property(writer, key, text);
}

struct child_writing {
    const struct living_blocks *living;
    const struct forked_child *child;
    struct step_reader *reader;
};

static enum step_status write_records(void *user, struct step_writer *writer,
                                      struct step_error *error)
{
    const struct child_writing *writing = user;
    const struct living_blocks *living = writing->living;
    enum step_status status = stepfile_copy_start(writing->reader, writer);
    if (status == STEP_STATUS_OK)
        status = inherited_put_number(writer, "forked-at-ns", writing->child->forked_ns);
    if (status == STEP_STATUS_OK)
        status = inherited_put_number(writer, "inherited", living->blocks.count);
    if (status == STEP_STATUS_OK)
        status = put_heaps(living, writer);
    if (status == STEP_STATUS_OK)
        status = put_blocks(living, writer);
    if (status == STEP_STATUS_OK)
        status = step_writer_flush_stream(writer, STREAM);
    uint64_t records = 0;
    return status == STEP_STATUS_OK ? stepfile_copy_blocks(writing->reader, writer, &records, error)
                                    : status;
}

/* Replaces a trace; on failure, the trace is unchanged. */
static enum step_status write_anew(const struct living_blocks *living,
                                   const struct forked_child *child)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct step_writer_options options;
    struct child_writing writing = {living, child, NULL};
    enum step_status status = step_reader_open(child->trace->path, &writing.reader, &error);
    if (status != STEP_STATUS_OK)
        return report_error(&error);
    step_writer_options_init(&options);
    options.definition = &step_hatf_trace_definition;
    status = trace_write(child->trace->path, &options, write_records, &writing, NULL, &error);
    step_reader_destroy(writing.reader);
    child->trace->has_inherited = status == STEP_STATUS_OK;
    return status == STEP_STATUS_OK ? status : report_error(&error);
}

/* ---- the trace of a parent ---- */

/* The objects that lived after the end of a cut trace are unknown. */
static enum step_status inherited_walk(struct alloc_source *source, bool is_cut,
                                       struct living_blocks *living,
                                       const struct forked_child *children, size_t count)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct hatf_record record;
    enum step_status status = STEP_STATUS_OK, written = STEP_STATUS_OK;
    size_t at = 0;
    while (at < count && written == STEP_STATUS_OK) {
        status = alloc_source_next(source, &record, &error);
        if (status != STEP_STATUS_OK && status != STEP_STATUS_END)
            return report_error(&error);
        if (status == STEP_STATUS_END && is_cut)
            break;
        while (at < count && written == STEP_STATUS_OK &&
               (status == STEP_STATUS_END || record.time > children[at].forked_ns))
            written = write_anew(living, &children[at++]);
        if (status == STEP_STATUS_OK && !living_blocks_put(living, &record))
            return report_no_memory();
    }
    return written;
}

/* `children` are in the order of their forks. */
static enum step_status list_children(const struct recorded_trace *parent,
                                      const struct forked_child *children, size_t count)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct alloc_source *source;
    struct living_blocks living = {.blocks = {0}};
    enum step_status status = trace_open_allocs(parent->path, NULL, NULL, &source, &error);
    if (status != STEP_STATUS_OK)
        return report_error(&error);
    status =
        inherited_walk(source, trace_gap_any_early(parent->end) != NULL, &living, children, count);
    living_blocks_reset(&living);
    alloc_source_destroy(source);
    return status;
}

/* ---- parents and children ---- */

/* Returns true for the program that the parent process ran when it forked the child: the last one
 * started by then. */
static bool is_parent(const struct trace_list *list, size_t parent, size_t child)
{
    const struct recorded_trace *of = &list->rows[child], *from = &list->rows[parent];
    if (from->parent[0] != '\0' && !from->has_inherited)
        return false; /* its own inherited objects are unknown */
    if (of->fork_stamp[0] == '\0' || of->is_growing || strcmp(of->parent, from->process) != 0)
        return false;
    for (size_t i = parent + 1; i < child; i++)
        if (strcmp(list->rows[i].process, from->process) == 0)
            return false;
    return parent < child;
}

static bool forked_ns(const struct recorded_trace *parent, const struct recorded_trace *child,
                      uint64_t *ns)
{
    uint64_t multiplier;
    unsigned shift;
    uint64_t stamp = strtoull(child->fork_stamp, NULL, 10);
    if (sscanf(parent->clock_scale, "%" SCNu64 ">>%u", &multiplier, &shift) != 2 || shift > 63)
        return false;
    *ns = (uint64_t) ((unsigned __int128) stamp * multiplier >> shift);
    return true;
}

static int by_fork(const void *left, const void *right)
{
    const struct forked_child *a = left, *b = right;
    return (a->forked_ns > b->forked_ns) - (a->forked_ns < b->forked_ns);
}

enum step_status inherited_heaps_list(struct trace_list *list)
{
    struct forked_child *children = calloc(list->count + 1, sizeof *children);
    enum step_status status = children != NULL ? STEP_STATUS_OK : STEP_STATUS_NO_MEMORY;
    for (size_t parent = 0; parent < list->count && children != NULL; parent++) {
        size_t count = 0;
        for (size_t i = parent + 1; i < list->count; i++)
            if (is_parent(list, parent, i) &&
                forked_ns(&list->rows[parent], &list->rows[i], &children[count].forked_ns))
                children[count++].trace = &list->rows[i];
        if (count == 0)
            continue;
        qsort(children, count, sizeof *children, by_fork);
        enum step_status one = list_children(&list->rows[parent], children, count);
        status = status == STEP_STATUS_OK ? one : status;
    }
    free(children);
    return status;
}
