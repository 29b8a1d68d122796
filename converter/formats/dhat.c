/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes what DHAT's viewer shows (docs/formats/valgrind.md): for each class and stack all
 * allocations, their lifetimes, and what was alive at most, at the peak and at the end.
 */
#include <stdlib.h>

#include "converter/containers/no_memory.h"
#include "converter/heap/heap_writer.h"
#include "converter/numbers/quantity.h"
#include "format/core/grow.h"
#include "format/json/json_output.h"

/* A line of the file's table of frames: a place, or a class. */
struct dhat_frame {
    uint32_t place, class_id;
};

struct dhat_file {
    struct heap_writer base;
    struct heap_row *at_peak; /* in the order of keys */
    size_t at_peak_count;
    uint64_t peak_ns;
    struct heap_sites places; /* places without duplicates: sites without parents */
    struct id_table of_place; /* uint32_t: frame, by place; 0: none yet */
    struct id_table of_class; /* uint32_t: frame, by class */
    struct dhat_frame *frames;
    size_t frame_count, frame_capacity; /* frame 0 is the root */
    struct json_output json;
    bool has_begun;
};

/* Returns the number of a frame, added at its first use; 0: out of memory. */
static uint32_t number_frame(struct dhat_file *file, struct id_table *table, uint32_t id,
                             struct dhat_frame frame)
{
    uint32_t *number = id_table_get(table, id);
    if (number == NULL || *number != 0)
        return number != NULL ? *number : 0;
    if (!STEP_MAKE_ROOM(file->frames, file->frame_capacity, file->frame_count + 1))
        return 0;
    file->frames[file->frame_count] = frame;
    return *number = (uint32_t) ++file->frame_count;
}

static uint32_t frame_of_site(struct dhat_file *file, uint32_t site)
{
    uint32_t number = heap_sites_put_place(&file->places, &file->base.sites->items[site]);
    return number == 0
               ? 0
               : number_frame(file, &file->of_place, number, (struct dhat_frame){.place = number});
}

static int dhat_compare_rows(const void *left, const void *right)
{
    const struct heap_key *a = &((const struct heap_row *) left)->key;
    const struct heap_key *b = &((const struct heap_row *) right)->key;
    if (a->class_id != b->class_id)
        return a->class_id < b->class_id ? -1 : 1;
    return (a->site > b->site) - (a->site < b->site);
}

/* A program point, in DHAT's words: from the class out to the first caller. */
static bool put_point(struct dhat_file *file, const struct heap_row *row)
{
    static const struct heap_row nothing;
    struct json_output *json = &file->json;
    const struct heap_row *peak =
        bsearch(row, file->at_peak, file->at_peak_count, sizeof *file->at_peak, dhat_compare_rows);
    uint32_t class = number_frame(file, &file->of_class, row->key.class_id,
                                  (struct dhat_frame){.class_id = row->key.class_id});
    bool ok = class != 0;
    peak = peak != NULL ? peak : &nothing;
    json_begin_object(json, NULL);
    /* DHAT's totals have all blocks of the file */
    json_number(json, "tb", row->allocated.bytes + row->existing.bytes);
    json_number(json, "tbk", row->allocated.objects + row->existing.objects);
    json_number(json, "tl", row->allocated.ages_us + row->live.ages_us);
    json_number(json, "mb", row->most.bytes);
    json_number(json, "mbk", row->most.objects);
    json_number(json, "gb", peak->live.bytes);
    json_number(json, "gbk", peak->live.objects);
    json_number(json, "eb", row->live.bytes);
    json_number(json, "ebk", row->live.objects);
    json_begin_array(json, "fs");
    json_number(json, NULL, class);
    for (uint32_t at = row->key.site; ok && at != 0; at = file->base.sites->items[at].parent) {
        uint32_t frame = frame_of_site(file, at);
        json_number(json, NULL, frame);
        ok = frame != 0;
    }
    json_end_array(json);
    json_end_object(json);
    return ok;
}

static void dhat_put_head(struct dhat_file *file, const struct heap_snapshot *snapshot)
{
    struct json_output *json = &file->json;
    json_init(json, file->base.stream.file);
    json->is_compact = true;
    json_begin_object(json, NULL);
    json_number(json, "dhatFileVersion", 2);
    json_text(json, "mode", "heap");
    json_text(json, "verb", "Allocated");
    json_bool(json, "bklt", true);
    json_bool(json, "bkacc", false);
    json_text(json, "bksu", "objects");
    json_text(json, "tu", snapshot->unit == TIME_STEPS ? "steps" : "\xc2\xb5s");
    json_text(json, "Mtu", snapshot->unit == TIME_STEPS ? "Msteps" : "s");
    json_number(json, "tuth", 10);
    json_bytes(json, "cmd", trace_text_bytes(trace_text_or(file->base.title, "java")));
    json_number(json, "pid", file->base.process);
    json_number(json, "tg", time_age(file->peak_ns, snapshot->unit));
    json_number(json, "te", time_age(snapshot->time_ns, snapshot->unit));
}

static void dhat_put_frames(struct dhat_file *file)
{
    struct json_output *json = &file->json;
    char text[HEAP_SITE_TEXT];
    json_begin_array(json, "ftbl");
    json_text(json, NULL, "[root]");
    for (size_t i = 0; i < file->frame_count; i++) {
        const struct dhat_frame *frame = &file->frames[i];
        size_t length =
            frame->place != 0 ? heap_site_print(&file->places, frame->place, text, sizeof text) : 0;
        json_bytes(json, NULL,
                   frame->place != 0
                       ? (struct step_bytes){(const uint8_t *) text, length}
                       : trace_class_of(file->base.sites->names, frame->class_id)->name);
    }
    json_end_array(json);
}

static bool keep_peak(struct dhat_file *file, struct heap_snapshot *snapshot)
{
    file->has_begun = true;
    file->peak_ns = snapshot->time_ns;
    file->at_peak = snapshot->rows;
    file->at_peak_count = snapshot->count;
    snapshot->rows = NULL;
    qsort(file->at_peak, file->at_peak_count, sizeof *file->at_peak, dhat_compare_rows);
    id_table_init(&file->of_place, sizeof(uint32_t));
    id_table_init(&file->of_class, sizeof(uint32_t));
    return heap_sites_init(&file->places, file->base.sites->names);
}

/* Gets the peak, then the end. */
static enum step_status dhat_put(struct heap_writer *writer, struct heap_snapshot *snapshot,
                                 struct step_error *error)
{
    struct dhat_file *file = (struct dhat_file *) writer;
    if (!file->has_begun)
        return keep_peak(file, snapshot) ? STEP_STATUS_OK : no_memory(error);
    bool ok = true;
    dhat_put_head(file, snapshot);
    json_begin_array(&file->json, "pps");
    for (size_t i = 0; ok && !ferror(file->json.file) && i < snapshot->count; i++)
        ok = put_point(file, &snapshot->rows[i]);
    json_end_array(&file->json);
    dhat_put_frames(file);
    json_close(&file->json);
    return ok ? STEP_STATUS_OK : no_memory(error);
}

static void dhat_reset(struct heap_writer *writer)
{
    struct dhat_file *file = (struct dhat_file *) writer;
    if (!file->has_begun)
        return;
    free(file->at_peak);
    free(file->frames);
    heap_sites_reset(&file->places);
    id_table_reset(&file->of_place);
    id_table_reset(&file->of_class);
}

static const struct heap_writer_operations dhat_writer = {
    .put = dhat_put,
    .reset = dhat_reset,
    .size_bytes = sizeof(struct dhat_file),
    .takes_peak_and_end = true,
};

const struct trace_format format_dhat = {
    .name = "dhat",
    .ending = ".dhat.json",
    .help = "for DHAT's viewer, with lifetimes",
    .packs_by_ending = true,
    .needs = FORMAT_NEEDS_HEAP,
    .sink = &heap_sink_operations,
    .heap_writer = &dhat_writer,
};
