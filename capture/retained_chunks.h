/* SPDX-License-Identifier: Apache-2.0 */
/* How the drain threads (of the agent, of the malloc recorder) treat chunks of a live map: a full
 * chunk is parsed, and retained until its records are in the trace file. */
#ifndef CAPTURE_RETAINED_CHUNKS_H
#define CAPTURE_RETAINED_CHUNKS_H

#include "capture/live_map.h"

/* Returns the number of published words, which are whole records. */
size_t live_published_words(const struct step_live_chunk *chunk);
/* Returns the first stream; the others follow by next_all. */
struct live_stream *live_all_streams(struct live_map *map);
/* Appends a full chunk, its stream's next one, to those retained. Its `next` is NULL. */
void live_retain(struct live_chunk_ref *ref);
/* Releases the retained chunks whose records all have numbers below `settled`. */
void live_release_settled(struct live_map *map, struct live_stream *stream, uint64_t settled);
/* Returns true if the backlog is half of the limit or more: blocks that are not full must be
 * written. */
bool live_needs_relief(const struct live_map *map);
/* Waits until a chunk is full, or a tick has passed. */
void live_wait_for_work(struct live_map *map);

#endif
