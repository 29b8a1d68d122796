/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the drain threads (the agent's, the malloc recorder's) do with the chunks of a live map: a
 * full one is parsed and retained, until its records are in the trace file.
 */
#ifndef CAPTURE_RETAINED_CHUNKS_H
#define CAPTURE_RETAINED_CHUNKS_H

#include "capture/live_map.h"

/* Words of whole records in a chunk. */
size_t live_published_words(const struct step_live_chunk *chunk);
/* Read on through next_all. */
struct live_stream *live_all_streams(struct live_map *map);
/* Puts a full chunk, which is its stream's next, behind those retained; its `next` is NULL. */
void live_retain(struct live_chunk_ref *ref);
/* Gives back the retained chunks whose records all have numbers below `settled`. */
void live_release_settled(struct live_map *map, struct live_stream *stream, uint64_t settled);
/* The buffers fill up with records of blocks that are not full: those must be written as they are.
 */
bool live_needs_relief(const struct live_map *map);
/* Until a chunk is full, or a tick has passed. */
void live_wait_for_work(struct live_map *map);

#endif
