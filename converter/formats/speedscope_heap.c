/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a heap as speedscope's sampled profile (docs/formats/speedscope.md): one sample per stack
 * and class, weighted by bytes (objects, if sizes are unknown).
 */
#include <stdlib.h>

#include "converter/containers/no_memory.h"
#include "converter/heap/heap_writer.h"
#include "format/json/json_output.h"

struct speedscope_file {
    struct heap_writer base;
    struct heap_sites places; /* places without duplicates: sites without parents */
    struct id_table classes;  /* uint32_t: 1 + frame of a class */
    struct json_output json;
    uint32_t class_count;
};

/* Frames are the places (from 0), then the classes. */
static uint32_t scope_heap_place_of(struct speedscope_file *file, uint32_t site)
{
    return heap_sites_put_place(&file->places, &file->base.sites->items[site]);
}

static uint64_t weight_of(const struct speedscope_file *file, const struct heap_snapshot *snapshot,
                          size_t i)
{
    return heap_export_weight(&file->base.options, snapshot, &snapshot->rows[i]);
}

static bool number_frames(struct speedscope_file *file, const struct heap_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->count; i++) {
        if (weight_of(file, snapshot, i) == 0)
            continue;
        for (uint32_t at = snapshot->rows[i].key.site; at != 0;
             at = file->base.sites->items[at].parent)
            if (scope_heap_place_of(file, at) == 0)
                return false;
        uint32_t *class = id_table_get(&file->classes, snapshot->rows[i].key.class_id);
        if (class == NULL)
            return false;
        if (*class == 0)
            *class = ++file->class_count;
    }
    return true;
}

static void scope_heap_put_place(struct speedscope_file *file, const struct heap_site *site)
{
    char path[FRAME_TEXT];
    const struct trace_names *names = file->places.names;
    struct frame_place place = heap_site_place(&file->places, site);
    if (place.line == 0)
        return;
    if (place.file.length > 0) {
        uint32_t class_id = trace_method_of(names, site->method_id)->class_id;
        size_t length = trace_source_path(names, class_id, &place, path, sizeof path);
        json_bytes(&file->json, "file", (struct step_bytes){(const uint8_t *) path, length});
    }
    json_number(&file->json, "line", place.line);
}

static void scope_heap_put_frames(struct speedscope_file *file, const uint32_t *classes)
{
    struct json_output *json = &file->json;
    char text[HEAP_SITE_TEXT];
    json_begin_object(json, "shared");
    json_begin_array(json, "frames");
    for (uint32_t i = 1; i < file->places.count; i++) {
        size_t length = heap_site_print(&file->places, i, text, sizeof text);
        json_begin_object(json, NULL);
        json_bytes(json, "name", (struct step_bytes){(const uint8_t *) text, length});
        scope_heap_put_place(file, &file->places.items[i]);
        json_end_object(json);
    }
    for (uint32_t i = 0; i < file->class_count; i++) {
        json_begin_object(json, NULL);
        json_bytes(json, "name", trace_class_of(file->base.sites->names, classes[i])->name);
        json_end_object(json);
    }
    json_end_array(json);
    json_end_object(json);
}

static void put_sample(struct speedscope_file *file, const struct heap_row *row, uint32_t *path)
{
    size_t depth = 0;
    for (uint32_t at = row->key.site; at != 0; at = file->base.sites->items[at].parent)
        path[depth++] = scope_heap_place_of(file, at) - 1;
    json_begin_array(&file->json, NULL);
    while (depth > 0)
        json_number(&file->json, NULL, path[--depth]);
    const uint32_t *class = id_table_find(&file->classes, row->key.class_id);
    json_number(&file->json, NULL, file->places.count - 1 + *class - 1);
    json_end_array(&file->json);
}

static bool scope_heap_put_profile(struct speedscope_file *file,
                                   const struct heap_snapshot *snapshot)
{
    struct json_output *json = &file->json;
    char moment[48];
    uint64_t total = 0;
    size_t deepest = 0;
    for (size_t i = 0; i < snapshot->count; i++) {
        size_t depth = heap_sites_depth(file->base.sites, snapshot->rows[i].key.site);
        deepest = depth > deepest ? depth : deepest;
        total += weight_of(file, snapshot, i);
    }
    uint32_t *path = malloc((deepest + 1) * sizeof *path);
    if (path == NULL)
        return false;
    heap_moment_print(&snapshot->moment, snapshot->unit, moment, sizeof moment);
    json_begin_array(json, "profiles");
    json_begin_object(json, NULL);
    json_text(json, "type", "sampled");
    json_text(json, "name", moment);
    json_text(json, "unit", snapshot->has_sizes ? "bytes" : "none");
    json_number(json, "startValue", 0);
    json_number(json, "endValue", total);
    json_begin_array(json, "samples");
    for (size_t i = 0; i < snapshot->count; i++)
        if (weight_of(file, snapshot, i) != 0)
            put_sample(file, &snapshot->rows[i], path);
    json_end_array(json);
    json_begin_array(json, "weights");
    for (size_t i = 0; i < snapshot->count; i++)
        if (weight_of(file, snapshot, i) != 0)
            json_number(json, NULL, weight_of(file, snapshot, i));
    json_end_array(json);
    json_end_object(json);
    json_end_array(json);
    free(path);
    return true;
}

static bool put_all(struct speedscope_file *file, const struct heap_snapshot *snapshot)
{
    struct json_output *json = &file->json;
    if (!number_frames(file, snapshot))
        return false;
    uint32_t *classes = calloc((size_t) file->class_count + 1, sizeof *classes);
    if (classes == NULL)
        return false;
    const uint32_t *number;
    for (uint32_t i = 0; (number = id_table_next(&file->classes, &i)) != NULL; i++)
        if (*number != 0)
            classes[*number - 1] = i;
    json_init(json, file->base.stream.file);
    json->is_compact = true;
    json_begin_object(json, NULL);
    json_text(json, "$schema", "https://www.speedscope.app/file-format-schema.json");
    json_text(json, "exporter", "steptrace");
    trace_text_put_json(trace_text_or(file->base.title, "java"), json, "name");
    scope_heap_put_frames(file, classes);
    free(classes);
    bool ok = scope_heap_put_profile(file, snapshot);
    json_close(json);
    return ok;
}

static enum step_status scope_heap_put(struct heap_writer *writer, struct heap_snapshot *snapshot,
                                       struct step_error *error)
{
    struct speedscope_file *file = (struct speedscope_file *) writer;
    id_table_init(&file->classes, sizeof(uint32_t));
    heap_snapshot_fold(snapshot, HEAP_BY_CLASS | HEAP_BY_SITE);
    if (heap_sites_init(&file->places, writer->sites->names) && put_all(file, snapshot))
        return STEP_STATUS_OK;
    return no_memory(error);
}

static void scope_heap_reset(struct heap_writer *writer)
{
    struct speedscope_file *file = (struct speedscope_file *) writer;
    heap_sites_reset(&file->places);
    id_table_reset(&file->classes);
}

static const struct heap_writer_operations speedscope_writer = {
    .put = scope_heap_put,
    .reset = scope_heap_reset,
    .size_bytes = sizeof(struct speedscope_file),
};

const struct trace_format format_speedscope = {
    .name = "speedscope",
    .ending = ".speedscope.json",
    .help = "speedscope",
    .packs_by_ending = true,
    .needs = FORMAT_NEEDS_HEAP,
    .options = heap_format_options,
    .sink = &heap_sink_operations,
    .heap_writer = &speedscope_writer,
};
