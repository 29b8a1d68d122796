/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thin_collections IN.step OUT.step EACH: the same trace as if only each EACH-th collection had
 * been, and the last: what the others found dead is found by the next that stays.  So the deaths
 * that are computed of it can be held against collections that they do not know.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/graph/graph_source.h"
#include "converter/records/copy_trace.h"
#include "converter/trace/collection_clock.h"
#include "format/core/search.h"

struct thinning {
    struct step_reader *reader;
    struct step_writer *writer;
    uint64_t *times; /* of the collections that stay */
    size_t count;
};

static enum step_status find_times(struct thinning *thinning, uint64_t each,
                                   struct step_error *error)
{
    struct graph_source source;
    const struct graph_event *event;
    uint64_t number = 0, last = UINT64_MAX;
    enum step_status status = graph_source_init(&source, thinning->reader, error);
    thinning->times = malloc((size_t) (source.inventory.counts[GRAPH_FREE] + 1) * sizeof(uint64_t));
    if (status == STEP_STATUS_OK)
        status = graph_source_start(&source, GRAPH_EVENT_BIT(GRAPH_FREE), NULL, NULL, error);
    while (status == STEP_STATUS_OK && thinning->times != NULL &&
           (status = graph_source_next(&source, &event, error)) == STEP_STATUS_OK) {
        if (event->time == last)
            continue;
        last = event->time;
        if (++number % each == 0)
            thinning->times[thinning->count++] = last;
    }
    if (thinning->times != NULL && last != UINT64_MAX && number % each != 0)
        thinning->times[thinning->count++] = last;
    graph_source_reset(&source);
    return status == STEP_STATUS_END ? STEP_STATUS_OK : status;
}

static uint64_t time_that_stays(const struct thinning *thinning, uint64_t time)
{
    size_t at = step_lower_bound(thinning->times, thinning->count, time);
    return at < thinning->count ? thinning->times[at] : time;
}

static enum step_status copy_block(struct thinning *thinning, size_t i, struct step_block **block,
                                   uint32_t freed, size_t time_slot, struct step_error *error)
{
    struct step_record_view view;
    uint64_t slots[64];
    uint64_t stream = step_reader_block_info(thinning->reader, i)->stream;
    enum step_status status = step_reader_load(thinning->reader, i, NULL, block, error);
    while (status == STEP_STATUS_OK && step_block_next(*block, &view) == STEP_STATUS_OK) {
        const uint64_t *out = view.slots;
        if (view.record == freed) {
            memcpy(slots, view.slots, 3 * sizeof *slots); /* time, thread, object */
            slots[time_slot] = time_that_stays(thinning, slots[time_slot]);
            out = slots;
        }
        status = step_writer_put(thinning->writer, stream, view.record, out);
    }
    return status;
}

static enum step_status copy(struct thinning *thinning, const char *path, struct step_error *error)
{
    const struct step_definition *definition = step_reader_borrow_definition(thinning->reader);
    uint32_t freed = step_definition_find(definition, "java.ObjectFree");
    size_t time_slot = step_record_find_property(definition, freed, "time");
    struct step_block *block = NULL;
    struct step_writer_options options;
    step_writer_options_init(&options);
    options.definition = definition;
    options.layout = STEP_WRITE_COLUMNS;
    enum step_status status = step_writer_open(path, &options, &thinning->writer, error);
    if (status == STEP_STATUS_OK)
        status = stepfile_copy_start(thinning->reader, thinning->writer);
    if (status == STEP_STATUS_OK) /* no collection tells what it found alive */
        status = step_writer_property(thinning->writer, "collect", "");
    for (size_t i = 0; status == STEP_STATUS_OK && i < step_reader_block_count(thinning->reader);
         i++)
        status = copy_block(thinning, i, &block, freed, time_slot, error);
    step_block_destroy(block);
    return status == STEP_STATUS_OK ? step_writer_close(thinning->writer, error) : status;
}

int main(int argc, char **argv)
{
    struct thinning thinning = {0};
    struct step_error error = {.offset = STEP_NO_OFFSET};
    uint64_t each = argc == 4 ? strtoull(argv[3], NULL, 10) : 0;
    if (each == 0) {
        fprintf(stderr, "thin_collections IN.step OUT.step EACH\n");
        return 2;
    }
    enum step_status status = step_reader_open(argv[1], &thinning.reader, &error);
    if (status == STEP_STATUS_OK)
        status = find_times(&thinning, each, &error);
    if (status == STEP_STATUS_OK)
        status = copy(&thinning, argv[2], &error);
    if (status != STEP_STATUS_OK)
        fprintf(stderr, "thin_collections: %s\n", error.message);
    step_writer_destroy(thinning.writer);
    step_reader_destroy(thinning.reader);
    free(thinning.times);
    return status != STEP_STATUS_OK;
}
