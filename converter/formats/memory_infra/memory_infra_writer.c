/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes heap dumps in the format of Chromium's memory-infra, as Trace Event JSON
 * (docs/formats/memory-infra.md): a process dump for each snapshot, and at the end the frames and
 * types that the dumps name.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "converter/containers/no_memory.h"
#include "converter/heap/heap_dump.h"
#include "converter/heap/heap_writer.h"
#include "format/core/grow.h"
#include "format/json/json_output.h"

#define ALLOCATOR "java_heap"
#define LEAST_SHARE 1000 /* of the heap, by default */

enum named { NAMED_FRAME = 1, NAMED_SELF = 2 };

struct memory_infra_file {
    struct heap_writer base;
    struct json_output json;
    uint64_t dump_count;
    bool has_begun;
    struct id_table sites;   /* uint8_t: which frames of the site the dumps name */
    struct id_table classes; /* uint8_t: not 0 if a dump names it */
};

static void json_hexadecimal(struct json_output *json, const char *key, uint64_t value)
{
    char text[20];
    snprintf(text, sizeof text, "%" PRIx64, value);
    json_text(json, key, text);
}

static void infra_writer_begin_event(struct memory_infra_file *file, const char *name,
                                     const char *phase)
{
    fputc('\n', file->json.file);
    json_begin_object(&file->json, NULL);
    json_text(&file->json, "name", name);
    json_text(&file->json, "ph", phase);
    json_number(&file->json, "pid", file->base.process);
    json_number(&file->json, "tid", 0);
}

static void infra_writer_begin(struct memory_infra_file *file)
{
    struct json_output *json = &file->json;
    json_init(json, file->base.stream.file);
    json->is_compact = true;
    id_table_init(&file->sites, 1);
    id_table_init(&file->classes, 1);
    json_begin_object(json, NULL);
    json_text(json, "displayTimeUnit", "ms");
    json_begin_array(json, "traceEvents");
    infra_writer_begin_event(file, "process_name", "M");
    json_begin_object(json, "args");
    trace_text_put_json(trace_text_or(file->base.title, "java"), json, "name");
    json_end_object(json);
    json_end_object(json);
    file->has_begun = true;
}

static void put_scalar(struct json_output *json, const char *name, const char *units,
                       uint64_t value)
{
    json_begin_object(json, name);
    json_text(json, "type", "scalar");
    json_text(json, "units", units);
    json_hexadecimal(json, "value", value);
    json_end_object(json);
}

static void infra_writer_put_totals(struct memory_infra_file *file, const struct heap_amount *all)
{
    struct json_output *json = &file->json;
    char guid[32];
    snprintf(guid, sizeof guid, "%" PRIx64 "%08" PRIx64, file->base.process, file->dump_count);
    json_begin_object(json, "allocators");
    json_begin_object(json, ALLOCATOR);
    json_text(json, "guid", guid);
    json_begin_object(json, "attrs");
    put_scalar(json, "size", "bytes", all->bytes);
    put_scalar(json, "object_count", "objects", all->objects);
    json_end_object(json);
    json_end_object(json);
    json_end_object(json);
}

/* Returns false if memory runs out. */
static bool infra_writer_note(struct id_table *table, uint32_t id, uint8_t bits, bool *is_new)
{
    uint8_t *known = id_table_get(table, id);
    if (known == NULL)
        return false;
    *is_new = (*known & bits) != bits;
    *known |= bits;
    return true;
}

static bool infra_writer_put_entry(struct memory_infra_file *file,
                                   const struct heap_dump_entry *entry)
{
    struct json_output *json = &file->json;
    char id[24] = "";
    bool is_new;
    if (entry->site != 0 || entry->is_self)
        snprintf(id, sizeof id, "%" PRIu32 "%s", entry->site, entry->is_self ? "s" : "");
    json_begin_object(json, NULL);
    json_hexadecimal(json, "size", entry->bytes);
    json_hexadecimal(json, "count", entry->objects);
    json_text(json, "bt", id);
    if (entry->has_class) {
        snprintf(id, sizeof id, "%" PRIu32, entry->class_id);
        json_text(json, "type", id);
    }
    json_end_object(json);
    return infra_writer_note(&file->sites, entry->site, entry->is_self ? NAMED_SELF : NAMED_FRAME,
                             &is_new) &&
           (!entry->has_class || infra_writer_note(&file->classes, entry->class_id, 1, &is_new));
}

static bool put_heaps(struct memory_infra_file *file, const struct heap_snapshot *snapshot,
                      const struct heap_amount *all)
{
    struct heap_dump dump;
    const struct heap_dump_options options = {
        .allocated = file->base.options.allocated,
        .with_classes = true,
        .least_bytes = file->base.options.has_least
                           ? heap_export_least_bytes(&file->base.options, all->bytes)
                           : all->bytes / LEAST_SHARE};
    bool ok = heap_dump_make(file->base.sites, snapshot, &options, &dump);
    json_begin_object(&file->json, "heaps");
    json_begin_object(&file->json, ALLOCATOR);
    json_begin_array(&file->json, "entries");
    for (size_t i = 0; ok && i < dump.count; i++)
        ok = infra_writer_put_entry(file, &dump.entries[i]);
    json_end_array(&file->json);
    json_end_object(&file->json);
    json_end_object(&file->json);
    heap_dump_reset(&dump);
    return ok;
}

/* heaps_v2: ids are decimal and begin at 1, so they are StepTrace's plus one. */
static void put_v2_name(struct json_output *json, uint64_t id, uint64_t string,
                        const uint64_t *parent)
{
    json_begin_object(json, NULL);
    json_number(json, "id", id);
    if (parent != NULL)
        json_number(json, "parent", *parent);
    json_number(json, "name_sid", string);
    json_end_object(json);
}

static void put_v2_string(struct json_output *json, uint64_t id, struct step_bytes text)
{
    json_begin_object(json, NULL);
    json_number(json, "id", id);
    json_bytes(json, "string", text);
    json_end_object(json);
}

/* Names that a dump is the first to use. */
struct fresh {
    uint32_t *items;
    size_t count, capacity;
};

static bool add_fresh(struct fresh *fresh, uint32_t item)
{
    if (!STEP_MAKE_ROOM(fresh->items, fresh->capacity, fresh->count + 1))
        return false;
    fresh->items[fresh->count++] = item;
    return true;
}

static bool find_fresh(struct memory_infra_file *file, const struct heap_snapshot *snapshot,
                       struct fresh *sites, struct fresh *classes)
{
    bool is_new;
    for (size_t i = 0; i < snapshot->count; i++) {
        const struct heap_key *key = &snapshot->rows[i].key;
        if (heap_export_amount(&file->base.options, &snapshot->rows[i])->objects == 0 &&
            heap_export_amount(&file->base.options, &snapshot->rows[i])->bytes == 0)
            continue;
        if (!infra_writer_note(&file->classes, key->class_id, 1, &is_new) ||
            (is_new && !add_fresh(classes, key->class_id)))
            return false;
        for (uint32_t at = key->site;; at = file->base.sites->items[at].parent) {
            if (!infra_writer_note(&file->sites, at, NAMED_FRAME, &is_new) ||
                (is_new && !add_fresh(sites, at)))
                return false;
            if (!is_new || file->base.sites->items[at].parent == 0)
                break;
        }
    }
    return true;
}

static void put_v2_maps(struct memory_infra_file *file, const struct fresh *sites,
                        const struct fresh *classes)
{
    struct json_output *json = &file->json;
    const struct heap_sites *tree = file->base.sites;
    char text[HEAP_SITE_TEXT];
    json_begin_object(json, "maps");
    json_begin_array(json, "nodes");
    for (size_t i = 0; i < sites->count; i++) {
        uint64_t id = (uint64_t) sites->items[i] + 1;
        uint64_t parent = (uint64_t) tree->items[sites->items[i]].parent + 1;
        put_v2_name(json, id, 2 * id, parent > 1 ? &parent : NULL);
    }
    json_end_array(json);
    json_begin_array(json, "types");
    for (size_t i = 0; i < classes->count; i++) {
        uint64_t id = (uint64_t) classes->items[i] + 1;
        put_v2_name(json, id, 2 * id + 1, NULL);
    }
    json_end_array(json);
    json_begin_array(json, "strings");
    for (size_t i = 0; i < sites->count; i++) {
        size_t length = heap_site_print(tree, sites->items[i], text, sizeof text);
        put_v2_string(json, 2 * ((uint64_t) sites->items[i] + 1),
                      (struct step_bytes){(const uint8_t *) text, length});
    }
    for (size_t i = 0; i < classes->count; i++)
        put_v2_string(json, 2 * ((uint64_t) classes->items[i] + 1) + 1,
                      trace_class_of(tree->names, classes->items[i])->name);
    json_end_array(json);
    json_end_object(json);
}

static void put_v2_columns(struct memory_infra_file *file, const struct heap_snapshot *snapshot)
{
    static const char *const columns[] = {"nodes", "types", "counts", "sizes"};
    struct json_output *json = &file->json;
    json_begin_object(json, "allocators");
    json_begin_object(json, ALLOCATOR);
    for (size_t column = 0; column < 4; column++) {
        json_begin_array(json, columns[column]);
        for (size_t i = 0; i < snapshot->count; i++) {
            const struct heap_row *row = &snapshot->rows[i];
            const struct heap_amount *amount = heap_export_amount(&file->base.options, row);
            const uint64_t values[] = {(uint64_t) row->key.site + 1,
                                       (uint64_t) row->key.class_id + 1, amount->objects,
                                       amount->bytes};
            if (amount->objects != 0 || amount->bytes != 0)
                json_number(json, NULL, values[column]);
        }
        json_end_array(json);
    }
    json_end_object(json);
    json_end_object(json);
}

static bool put_heaps_v2(struct memory_infra_file *file, const struct heap_snapshot *snapshot)
{
    struct fresh sites = {.items = NULL}, classes = {.items = NULL};
    bool ok = find_fresh(file, snapshot, &sites, &classes);
    json_begin_object(&file->json, "heaps_v2");
    json_number(&file->json, "version", 1);
    if (ok) {
        put_v2_maps(file, &sites, &classes);
        put_v2_columns(file, snapshot);
    }
    json_end_object(&file->json);
    free(sites.items);
    free(classes.items);
    return ok;
}

static enum step_status infra_writer_put(struct heap_writer *writer, struct heap_snapshot *snapshot,
                                         struct step_error *error)
{
    struct memory_infra_file *file = (struct memory_infra_file *) writer;
    struct json_output *json = &file->json;
    char id[24];
    const struct heap_amount *all =
        writer->options.allocated ? &snapshot->allocated : &snapshot->live;
    if (!file->has_begun)
        infra_writer_begin(file);
    heap_snapshot_fold(snapshot, HEAP_BY_CLASS | HEAP_BY_SITE);
    infra_writer_begin_event(file, "periodic_interval", "v");
    json_text(json, "cat", "disabled-by-default-memory-infra");
    snprintf(id, sizeof id, "0x%" PRIx64, ++file->dump_count);
    json_text(json, "id", id);
    json_microseconds(json, "ts", snapshot->time_ns);
    json_begin_object(json, "args");
    json_begin_object(json, "dumps");
    json_text(json, "level_of_detail", "detailed");
    infra_writer_put_totals(file, all);
    bool ok = writer->options.v2 ? put_heaps_v2(file, snapshot) : put_heaps(file, snapshot, all);
    json_end_object(json);
    json_end_object(json);
    json_end_object(json);
    return ok ? STEP_STATUS_OK : no_memory(error);
}

static void infra_writer_put_frame(struct memory_infra_file *file, uint32_t site, bool is_self)
{
    struct json_output *json = &file->json;
    char id[24], parent[24], text[HEAP_SITE_TEXT] = "<self>";
    uint32_t outer = is_self ? site : file->base.sites->items[site].parent;
    snprintf(id, sizeof id, "%" PRIu32 "%s", site, is_self ? "s" : "");
    snprintf(parent, sizeof parent, "%" PRIu32, outer);
    if (!is_self)
        heap_site_print(file->base.sites, site, text, sizeof text);
    json_begin_object(json, id);
    json_text(json, "name", text);
    if (outer != 0)
        json_text(json, "parent", parent);
    json_end_object(json);
}

static void infra_writer_put_frames(struct memory_infra_file *file)
{
    infra_writer_begin_event(file, "stackFrames", "M");
    json_begin_object(&file->json, "args");
    json_begin_object(&file->json, "stackFrames");
    const uint8_t *known;
    for (uint32_t i = 0; (known = id_table_next(&file->sites, &i)) != NULL; i++) {
        if ((*known & NAMED_FRAME) != 0 && i != 0)
            infra_writer_put_frame(file, i, false);
        if ((*known & NAMED_SELF) != 0)
            infra_writer_put_frame(file, i, true);
    }
    json_end_object(&file->json);
    json_end_object(&file->json);
    json_end_object(&file->json);
}

/* Always written: viewers skip dumps without it. */
static void infra_writer_put_types(struct memory_infra_file *file)
{
    char id[24];
    infra_writer_begin_event(file, "typeNames", "M");
    json_begin_object(&file->json, "args");
    json_begin_object(&file->json, "typeNames");
    const uint8_t *known;
    for (uint32_t i = 0; (known = id_table_next(&file->classes, &i)) != NULL; i++) {
        if (*known == 0)
            continue;
        snprintf(id, sizeof id, "%" PRIu32, i);
        json_bytes(&file->json, id, trace_class_of(file->base.sites->names, i)->name);
    }
    json_end_object(&file->json);
    json_end_object(&file->json);
    json_end_object(&file->json);
}

static enum step_status close_file(struct heap_writer *writer, struct step_error *error)
{
    struct memory_infra_file *file = (struct memory_infra_file *) writer;
    (void) error;
    if (!file->has_begun)
        infra_writer_begin(file);
    if (!writer->options.v2) {
        infra_writer_put_frames(file);
        infra_writer_put_types(file);
    }
    json_end_array(&file->json);
    json_close(&file->json);
    return STEP_STATUS_OK;
}

static void infra_writer_reset(struct heap_writer *writer)
{
    struct memory_infra_file *file = (struct memory_infra_file *) writer;
    if (file->has_begun) {
        id_table_reset(&file->sites);
        id_table_reset(&file->classes);
    }
}

static const struct heap_writer_operations memory_infra_writer = {
    .put = infra_writer_put,
    .close = close_file,
    .reset = infra_writer_reset,
    .size_bytes = sizeof(struct memory_infra_file),
    .takes_series = true,
};

/* Accepts any JSON. */
static bool starts_json(const char *start, size_t length)
{
    while (length > 0 && *start != '\0' && strchr(" \n\r\t", *start) != NULL)
        start++;
    return length > 0 && (*start == '{' || *start == '[');
}

static const struct format_options *const options_of[] = {&heap_moment_options, &heap_options,
                                                          &heap_series_options, NULL};

const struct trace_format format_memory_infra = {
    .name = "memory-infra",
    .ending = ".memory-infra.json",
    .help = "Chromium's heap dumps",
    .packs_by_ending = true,
    .needs = FORMAT_NEEDS_HEAP,
    .starts = starts_json,
    .reads_dumps = true,
    .options = options_of,
    .sink = &heap_sink_operations,
    .heap_writer = &memory_infra_writer,
};
