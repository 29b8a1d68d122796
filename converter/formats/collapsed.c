/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes collapsed stacks (docs/formats/collapsed.md): one line per stack, with frames from the
 * outermost to the innermost separated by `;`, the class last, then a blank and the bytes (objects,
 * if sizes are unknown).
 */
#include <inttypes.h>
#include <stdlib.h>

#include "converter/cli/utf8_text.h"
#include "converter/containers/name_index.h"
#include "converter/containers/no_memory.h"
#include "converter/heap/heap_writer.h"
#include "format/core/grow.h"

/* Writes the sites from the outermost to this one to `path`, which grows as needed.  Returns their
 * number, or SIZE_MAX if memory runs out. */
static size_t path_of(const struct heap_sites *sites, uint32_t site, uint32_t **path,
                      size_t *capacity)
{
    size_t depth = heap_sites_depth(sites, site);
    if (!STEP_MAKE_ROOM(*path, *capacity, depth))
        return SIZE_MAX;
    for (size_t i = depth; i-- > 0; site = sites->items[site].parent)
        (*path)[i] = site;
    return depth;
}

/* Gives the rows of equal class names, as of two loaders, one class.  Returns false if memory runs
 * out. */
static bool join_names(const struct trace_names *names, struct heap_snapshot *snapshot)
{
    struct name_index index = {.count = 0};
    uint32_t *first = malloc((snapshot->count + 1) * sizeof *first);
    bool ok = first != NULL;
    for (size_t i = 0; ok && i < snapshot->count; i++) {
        bool is_new;
        uint32_t *class_id = &snapshot->rows[i].key.class_id;
        uint32_t name = name_index_put(&index, 0, trace_class_of(names, *class_id)->name, &is_new);
        ok = name != 0;
        if (ok && is_new)
            first[name - 1] = *class_id;
        else if (ok)
            *class_id = first[name - 1];
    }
    free(first);
    name_index_reset(&index);
    return ok;
}

static enum step_status collapsed_put(struct heap_writer *writer, struct heap_snapshot *snapshot,
                                      struct step_error *error)
{
    FILE *out = writer->stream.file;
    uint32_t *path = NULL;
    size_t capacity = 0;
    char text[HEAP_SITE_TEXT];
    bool ok = join_names(writer->sites->names, snapshot);
    heap_snapshot_fold(snapshot, HEAP_BY_CLASS | HEAP_BY_SITE);
    for (size_t i = 0; ok && !ferror(out) && i < snapshot->count; i++) {
        const struct heap_row *row = &snapshot->rows[i];
        uint64_t weight = heap_export_weight(&writer->options, snapshot, row);
        size_t depth = path_of(writer->sites, row->key.site, &path, &capacity);
        ok = depth != SIZE_MAX;
        if (!ok || weight == 0)
            continue;
        for (size_t j = 0; j < depth && !ferror(out); j++) {
            size_t length = heap_site_print(writer->sites, path[j], text, sizeof text);
            utf8_print_in_line((struct step_bytes){(const uint8_t *) text, length}, ';', out);
            fputc(';', out);
        }
        struct step_bytes name = trace_class_of(writer->sites->names, row->key.class_id)->name;
        utf8_print_in_line(name, ';', out);
        fprintf(out, " %" PRIu64 "\n", weight);
    }
    free(path);
    return ok ? STEP_STATUS_OK : no_memory(error);
}

static const struct heap_writer_operations collapsed_writer = {
    .put = collapsed_put,
    .size_bytes = sizeof(struct heap_writer),
};

const struct trace_format format_collapsed = {
    .name = "collapsed",
    .ending = ".collapsed",
    .help = "stacks for flame graphs",
    .packs_by_ending = true,
    .needs = FORMAT_NEEDS_HEAP,
    .options = heap_format_options,
    .sink = &heap_sink_operations,
    .heap_writer = &collapsed_writer,
};
