/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a HATF trace: what the replay driver would be given is in bounds, and no slot is
 * freed twice or used while it is empty. */
#include <stdlib.h>
#include <string.h>

#include "analyses/replay/replay_plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct pieces {
    struct replay_piece *piece;
    uint8_t *is_live; /* by slot */
    uint64_t slots;
    bool is_threaded;
};

static struct replay_piece *begin_piece(void *user)
{
    struct pieces *pieces = user;
    return pieces->piece;
}

static void check_op(struct pieces *pieces, const struct replay_op *op, uint32_t slot_end)
{
    unsigned kind = op->size_kind & ((1u << REPLAY_KIND_BITS) - 1);
    if (kind > REPLAY_SAMPLE)
        abort();
    if (kind > REPLAY_HEAP_FREE)
        return;
    if (op->slot >= slot_end || op->extra >= REPLAY_HEAPS_MOST)
        abort();
    bool is_new = kind == REPLAY_MALLOC || kind == REPLAY_HEAP_MALLOC ||
                  (kind == REPLAY_REALLOC && op->extra != 0);
    if (pieces->is_live[op->slot] != !is_new)
        abort();
    pieces->is_live[op->slot] = kind != REPLAY_FREE && kind != REPLAY_HEAP_FREE;
}

/* Sections of several threads have no order. */
static void end_piece(void *user)
{
    struct pieces *pieces = user;
    struct replay_piece *piece = pieces->piece;
    if (piece->section_count > REPLAY_SECTIONS_MOST || piece->slot_end > REPLAY_SLOTS_MOST)
        abort();
    if (piece->slot_end > pieces->slots) {
        pieces->is_live = realloc(pieces->is_live, piece->slot_end);
        memset(pieces->is_live + pieces->slots, 0, piece->slot_end - pieces->slots);
        pieces->slots = piece->slot_end;
    }
    for (uint32_t i = 0; i < piece->section_count; i++) {
        const struct replay_section *section = &piece->sections[i];
        if (section->first + section->count > REPLAY_PIECE_OPS ||
            section->thread >= REPLAY_THREADS_MOST)
            abort();
        for (uint32_t j = 0; j < section->count && !pieces->is_threaded; j++)
            check_op(pieces, replay_piece_ops(piece) + section->first + j, piece->slot_end);
    }
}

static void plan_bytes(const uint8_t *data, size_t size, struct pieces *pieces, bool is_threaded)
{
    const struct replay_plan_options options = {.is_threaded = is_threaded,
                                                .begin_piece = begin_piece,
                                                .end_piece = end_piece,
                                                .user = pieces};
    struct replay_plan *plan = replay_plan_create(&options);
    struct hatf_reader *reader = NULL;
    struct hatf_record record;
    if (plan != NULL &&
        hatf_reader_create_memory(data, size, "fuzz", &reader, NULL) == STEP_STATUS_OK) {
        while (hatf_reader_next(reader, &record, NULL) == STEP_STATUS_OK &&
               replay_plan_put(plan, &record, NULL) == STEP_STATUS_OK)
            ;
        replay_plan_finish(plan, NULL);
    }
    hatf_reader_destroy(reader);
    replay_plan_destroy(plan);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pieces pieces = {.piece = malloc(REPLAY_PIECE_BYTES)};
    if (pieces.piece == NULL)
        return 0;
    for (int threaded = 0; threaded < 2; threaded++) {
        pieces.is_threaded = threaded != 0;
        plan_bytes(data, size, &pieces, threaded != 0);
        free(pieces.is_live);
        pieces.is_live = NULL;
        pieces.slots = 0;
    }
    free(pieces.piece);
    return 0;
}
