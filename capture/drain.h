/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The drain thread of a live map: full chunks to records, records to the trace file.  The agent and
 * the malloc recorder have one each; what differs are the operations, which are called for chunks,
 * not for records.
 */
#ifndef CAPTURE_DRAIN_H
#define CAPTURE_DRAIN_H

#include "capture/live_map.h"
#include "steptrace/writer.h"

struct drain;

struct drain_operations {
    /* Of the decoder: a chunk begins; its words, as far as they are whole records; the number of
     * the stream's next record. */
    enum step_status (*begin)(void *decoder, const struct step_live_chunk *chunk);
    enum step_status (*words)(void *decoder, uint64_t stream, const uint64_t *words, size_t count,
                              size_t *consumed, struct step_error *error);
    uint64_t (*next_record)(void *decoder, uint64_t stream);
    /* Of `written` records the ones that nothing will change any more; NULL: all. */
    uint64_t (*settled)(void *decoder, uint64_t stream, uint64_t written);
    /* Takes all full chunks with drain_take_full(), in the order it wants; false: there were none.
     */
    bool (*take_all_full)(struct drain *drain);
    /* No thread is in a probe that found what is to end. */
    bool (*is_quiet)(const struct drain *drain);
    /* A thread that is still in such a probe does not come out of it; NULL: it always does. */
    bool (*gives_up)(const struct drain *drain);
    /* Who waits for the trace has waited for long enough; NULL: nobody does. */
    bool (*is_late)(const struct drain *drain);
};

struct drain {
    const struct drain_operations *operations;
    void *owner;
    const char *path; /* the trace's name, for messages */
    struct live_map *map;
    struct step_writer *writer;
    void *decoder;
    bool failed;    /* the trace file takes no more */
    bool left;      /* it was late: what is not in the trace file stays in the live file */
    bool abandoned; /* it gave up: a thread may still use the map, which stays */
};

/* Where `status` is none of success the trace ends: that is said once.  `error` may be NULL. */
void drain_check(struct drain *drain, enum step_status status, const struct step_error *error);

/* The chunk's records up to that word. */
void drain_parse(struct drain *drain, struct live_chunk_ref *ref, size_t words);
/* A full chunk, retained until drain_release_written(). */
void drain_parse_full(struct drain *drain, struct live_chunk_ref *ref);
/* Both. */
void drain_take_full(struct drain *drain, struct live_chunk_ref *ref);
/* The chunk that the stream's owner still fills, as far as it is published, unless an earlier one
 * is on its way here. */
void drain_take_active(struct drain *drain, struct live_stream *stream);
/* Everything that is published anywhere. */
void drain_take_everything(struct drain *drain);

/* Writes the stream's block as it is. */
void drain_flush_stream(struct drain *drain, const struct live_stream *stream);
/* Chunks whose records are in the file go back to the pool. */
void drain_release_written(struct drain *drain, struct live_stream *stream);
/* Where the buffers fill up, writes blocks that are not full. */
void drain_relieve(struct drain *drain);

/* When no probe begins any more: drains until the last has ended, or gives up. */
void drain_until_quiet(struct drain *drain);

void drain_put_text(struct drain *drain, const char *key, const char *value);
void drain_put_number(struct drain *drain, const char *key, uint64_t value);
/* How long threads waited for room: `waited-ns`, `longest-wait-ns`, and `waits` by thread. */
void drain_put_waits(struct drain *drain);
/* Closes the trace, or leaves it as it is where that comes late. */
void drain_close(struct drain *drain);

#endif
