/* SPDX-License-Identifier: Apache-2.0 */
/* A trace that never is a file: the writer's bytes go to a function, the reader's come from
 * another. Here both use pieces of memory, each byte turned over; a socket or a database would do
 * as well. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net_trace.h"

enum { PIECE_BYTES = 4096, MOST_PIECES = 1024 };

struct pieces {
    uint8_t *pieces[MOST_PIECES];
    uint64_t size_bytes;
};

static enum step_status put_bytes(void *user, const void *data, size_t length,
                                  struct step_error *error)
{
    struct pieces *store = user;
    for (size_t i = 0; i < length; i++, store->size_bytes++) {
        uint64_t piece = store->size_bytes / PIECE_BYTES;
        if (piece == MOST_PIECES)
            return step_error_set(error, STEP_STATUS_IO, "pieces", store->size_bytes, "full");
        if (store->pieces[piece] == NULL)
            store->pieces[piece] = malloc(PIECE_BYTES);
        if (store->pieces[piece] == NULL)
            return step_error_set(error, STEP_STATUS_NO_MEMORY, NULL, STEP_NO_OFFSET, "no memory");
        store->pieces[piece][store->size_bytes % PIECE_BYTES] = ((const uint8_t *) data)[i] ^ 0xff;
    }
    return STEP_STATUS_OK;
}

static enum step_status get_bytes(void *user, uint64_t offset, void *data, size_t length,
                                  struct step_error *error)
{
    const struct pieces *store = user;
    (void) error;
    for (size_t i = 0; i < length; i++, offset++)
        ((uint8_t *) data)[i] = store->pieces[offset / PIECE_BYTES][offset % PIECE_BYTES] ^ 0xff;
    return STEP_STATUS_OK;
}

/* Called once, when the writer is done. */
static enum step_status report_end(void *user, bool complete, struct step_error *error)
{
    const struct pieces *store = user;
    (void) error;
    printf("%s, %s\n", store->size_bytes > 0 ? "written" : "empty",
           complete ? "complete" : "not complete");
    return STEP_STATUS_OK;
}

static bool write_trace(struct pieces *store, struct step_error *error)
{
    struct step_writer_options options;
    struct step_writer *writer = NULL;
    step_writer_options_init(&options);
    options.definition = &net_trace_definition;
    options.output = (struct step_output){store, put_bytes};
    options.finish = report_end;
    options.block_records = 1000;
    if (step_writer_create(&options, &writer, error) != STEP_STATUS_OK)
        return false;
    for (uint64_t i = 0; i < 10000; i++)
        net_lost_put(writer, i % 3, &(struct net_lost){.time = i, .bytes = 7});
    bool good = step_writer_close(writer, error) == STEP_STATUS_OK;
    step_writer_destroy(writer);
    return good;
}

static bool read_trace(struct pieces *store, struct step_error *error)
{
    const struct step_input input = {store, store->size_bytes, get_bytes};
    struct step_reader *reader = NULL;
    struct step_records *records = NULL;
    struct step_record_view view;
    uint64_t count = 0;
    bool ordered = true;
    bool good = step_reader_open_input(&input, "pieces", &reader, error) == STEP_STATUS_OK &&
                step_records_create(reader, NULL, &records, error) == STEP_STATUS_OK;
    while (good && step_records_next(records, &view, error) == STEP_STATUS_OK)
        ordered = ordered && view.slots[0] == count++;
    printf("%" PRIu64 " records, %s\n", count, ordered ? "in order" : "out of order");
    step_records_destroy(records);
    step_reader_destroy(reader);
    return good && ordered;
}

int main(void)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct pieces store = {.size_bytes = 0};
    bool good = write_trace(&store, &error) && read_trace(&store, &error);
    if (!good)
        fprintf(stderr, "custom_io: %s\n", error.message);
    for (size_t i = 0; i < MOST_PIECES; i++)
        free(store.pieces[i]);
    return good ? 0 : 1;
}
