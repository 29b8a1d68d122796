/* SPDX-License-Identifier: Apache-2.0 */
/* The drain of a live map: converts full chunks to records, and writes records to the trace file.
 * The agent and the malloc recorder have one each. They differ in the operations, which are called
 * per chunk, not per record. */
#ifndef CAPTURE_DRAIN_H
#define CAPTURE_DRAIN_H

#include "capture/live_map.h"
#include "steptrace/writer.h"

struct drain;

struct drain_operations {
    /* The decoder's functions: begin a chunk; decode its words as far as they are whole records;
     * return the number of the stream's next record. */
    enum step_status (*begin)(void *decoder, uint64_t stream, uint64_t first_record,
                              uint64_t thread);
    enum step_status (*words)(void *decoder, uint64_t stream, const uint64_t *words, size_t count,
                              size_t *consumed, struct step_error *error);
    uint64_t (*next_record)(void *decoder, uint64_t stream);
    /* Returns how many of `written` records cannot change any more. NULL: all. */
    uint64_t (*settled)(void *decoder, uint64_t stream, uint64_t written);
    /* Takes all full chunks with drain_take_full(), in any order. Returns false if there were
     * none. */
    bool (*take_all_full)(struct drain *drain);
    /* Returns true if no thread is in a probe that uses the ending trace. */
    bool (*is_quiet)(const struct drain *drain);
    /* Returns true if a thread is not going to leave such a probe. NULL: every thread does. */
    bool (*gives_up)(const struct drain *drain);
    /* Returns true if the trace has been waited for long enough. NULL: no limit. */
    bool (*is_late)(const struct drain *drain);
};

struct drain {
    const struct drain_operations *operations;
    void *owner;
    const char *path; /* the trace's name, for messages */
    struct live_map *map;
    struct step_writer *writer;
    void *decoder;
    bool failed;    /* the trace file accepts no more data */
    bool left;      /* it was late: what is not in the trace file stays in the live file */
    bool abandoned; /* it gave up: a thread may still use the map, which is kept */
};

/* Ends the trace if `status` is not success; logs that once. `error` may be NULL. */
void drain_check(struct drain *drain, enum step_status status, const struct step_error *error);

/* Parses the chunk's records up to word number `words`. */
void drain_parse(struct drain *drain, struct live_chunk_ref *ref, size_t words);
/* Parses a full chunk and retains it until drain_release_written(). */
void drain_parse_full(struct drain *drain, struct live_chunk_ref *ref);
/* Calls drain_parse_full() and drain_release_written(). */
void drain_take_full(struct drain *drain, struct live_chunk_ref *ref);
/* Parses the published part of the chunk that the stream's owner still fills, unless an earlier
 * chunk has not arrived yet. */
void drain_take_active(struct drain *drain, struct live_stream *stream);
/* Parses everything that is published in any stream. */
void drain_take_everything(struct drain *drain);

/* Writes the stream's block, full or not. */
void drain_flush_stream(struct drain *drain, const struct live_stream *stream);
/* Releases chunks whose records are in the file. */
void drain_release_written(struct drain *drain, struct live_stream *stream);
/* Writes blocks that are not full if the buffers fill up. */
void drain_relieve(struct drain *drain);

/* Drains until the last probe has ended, or gives up. Call when no new probe begins. */
void drain_until_quiet(struct drain *drain);

void drain_put_text(struct drain *drain, const char *key, const char *value);
void drain_put_number(struct drain *drain, const char *key, uint64_t value);
/* Writes how long threads waited for room: `waited-ns`, `longest-wait-ns`, and `waits` by
 * thread. */
void drain_put_waits(struct drain *drain);
/* Closes the trace, or leaves it as it is if it is late. */
void drain_close(struct drain *drain);

#endif
