/* SPDX-License-Identifier: Apache-2.0 */
/* Copies the ring in passes, each of which looks first and then writes. It selects whole streams up
 * to some record each: the chunks of a stream up to the highest that the first look found, as far
 * as the second finds them filled. The global stream is selected last and written first, so the
 * file defines everything that its records name. */
#include "capture/ring_copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/clock.h"
#include "capture/trace_file.h"
#include "format/core/grow.h"

static const struct step_live_header *header_of(const struct ring_copy *copy)
{
    return (const struct step_live_header *) (const void *) copy->ring;
}

static const struct step_live_chunk *chunk_at(const struct ring_copy *copy,
                                              const struct ring_place *place)
{
    return (const struct step_live_chunk *) (const void *) (copy->ring + place->offset);
}

/* ---- writing ---- */

static void write_at(struct ring_copy *copy, const void *data, uint64_t length, uint64_t offset)
{
    if (copy->code == 0)
        copy->code = trace_file_put(copy->file, data, length, offset);
    if (copy->code == 0 && offset + length > copy->file_bytes)
        copy->file_bytes = offset + length;
}

/* ---- selecting ---- */

/* Returns true if the chunk in memory is still the one seen there. Then all that was read before
 * belongs to it.
 *
 * This is the second half of a sequence lock whose counter is the pair of stream and order. The
 * fence keeps the reads of records before it from moving behind it. The acquire load of the state
 * pairs with the release stores of begin_chunk() (ACTIVE) and live_map_release() (FREE): if the
 * chunk has been released and filled again, either the state is FREE or the pair is another one.
 * There is no lock between the two processes, because each may be killed while it holds one. */
static bool is_unchanged(const struct ring_copy *copy, const struct ring_place *place)
{
    const struct step_live_chunk *chunk = chunk_at(copy, place);
    const volatile uint64_t *stream = &chunk->stream, *order = &chunk->order;
    atomic_thread_fence(memory_order_acquire);
    uint32_t state = atomic_load_explicit(&chunk->state, memory_order_acquire);
    return state != STEP_LIVE_FREE && *stream == place->seen_stream && *order == place->seen_order;
}

/* A chunk's stream and order identify it and never occur again. They are read before and after its
 * length.
 *
 * The fence keeps the two reads before those of state and length. They are plain, and an acquire
 * load only keeps back what follows it, so a processor that reorders reads (AArch64) may do them
 * after it. If the chunk is released and begun again between, the length is the old chunk's and the
 * pair the new one's, which is_unchanged() then finds unchanged. */
static bool ring_copy_look(const struct ring_copy *copy, struct ring_place *place)
{
    const struct step_live_chunk *chunk = chunk_at(copy, place);
    const volatile uint64_t *stream = &chunk->stream, *order = &chunk->order;
    place->seen_stream = *stream;
    place->seen_order = *order;
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&chunk->state, memory_order_acquire) == STEP_LIVE_FREE)
        return false;
    uint64_t used = atomic_load_explicit(&chunk->used, memory_order_acquire);
    place->seen_used = used <= chunk->size_bytes - sizeof *chunk ? used : 0;
    return is_unchanged(copy, place);
}

/* The load pairs with the store of `file_bytes` in carve(), which comes after the headers of the
 * new chunks. Places never move and never change their size, so each is found once. */
static bool ring_copy_find_places(struct ring_copy *copy)
{
    uint64_t end = atomic_load(&header_of(copy)->file_bytes);
    if (copy->scanned == 0)
        copy->scanned = STEP_LIVE_PAGE;
    while (copy->scanned < end && end <= copy->ring_bytes) {
        const struct step_live_chunk *chunk =
            (const struct step_live_chunk *) (const void *) (copy->ring + copy->scanned);
        if (chunk->magic != STEP_LIVE_CHUNK_MAGIC || chunk->size_bytes < STEP_LIVE_PAGE ||
            chunk->size_bytes > end - copy->scanned)
            break;
        if (!STEP_MAKE_ROOM(copy->places, copy->place_capacity, copy->place_count + 1))
            return false;
        copy->places[copy->place_count++] = (struct ring_place){.offset = copy->scanned};
        copy->scanned += chunk->size_bytes;
    }
    return true;
}

static bool note_order(struct ring_copy *copy, uint64_t stream, uint64_t order)
{
    if (!STEP_MAKE_ZEROED_ROOM(copy->orders, copy->order_capacity, (size_t) stream + 1))
        return false;
    if (copy->orders[stream] < order + 1)
        copy->orders[stream] = order + 1;
    return true;
}

static bool ring_copy_choose(struct ring_copy *copy, struct ring_place *place)
{
    if (!STEP_MAKE_ROOM(copy->sorted, copy->sorted_capacity, copy->sorted_count + 1))
        return false;
    copy->sorted[copy->sorted_count++] = place;
    return true;
}

/* Called twice: selects chunks of all but the global stream, then of this one. What is selected is
 * not looked at again: its chunk may have made room for one that comes later in its stream.
 *
 * The places cannot be read at one moment, so a single look could find a stream's chunk 7 and miss
 * its chunk 6, which was begun in a place that had been passed already. The file would then have a
 * gap in the middle of a stream. So there are two looks. The first notes the highest chunk of each
 * stream. All lower ones had been begun before that one, so the second look finds each of them, or
 * it has been released, and then the trace has it. Chunks above the noted one are left to the next
 * pass. The result is a prefix of each stream, some longer than others.
 *
 * The global stream comes last. A definition is committed before the record that names it, so what
 * is selected now defines everything that was selected before. */
static bool look_at_streams(struct ring_copy *copy, bool global)
{
    for (size_t i = 0; i < copy->place_count; i++) {
        struct ring_place *place = &copy->places[i];
        if (!place->seen && ring_copy_look(copy, place) &&
            (place->seen_stream == STEP_LIVE_STREAM_GLOBAL) == global &&
            !note_order(copy, place->seen_stream, place->seen_order))
            return false;
    }
    for (size_t i = 0; i < copy->place_count; i++) {
        struct ring_place *place = &copy->places[i];
        if (place->seen)
            continue;
        place->seen = ring_copy_look(copy, place) &&
                      (place->seen_stream == STEP_LIVE_STREAM_GLOBAL) == global &&
                      place->seen_stream < copy->order_capacity &&
                      place->seen_order < copy->orders[place->seen_stream];
        if (place->seen && !ring_copy_choose(copy, place))
            return false;
    }
    return true;
}

static int compare_places(const void *left, const void *right)
{
    const struct ring_place *a = *(struct ring_place *const *) left;
    const struct ring_place *b = *(struct ring_place *const *) right;
    if (a->seen_stream != b->seen_stream)
        return a->seen_stream < b->seen_stream ? -1 : 1;
    return (a->seen_order > b->seen_order) - (a->seen_order < b->seen_order);
}

/* ---- a pass ---- */

/* Marks the place in the file as free. */
static void drop(struct ring_copy *copy, struct ring_place *place)
{
    struct step_live_chunk chunk = {.magic = STEP_LIVE_CHUNK_MAGIC,
                                    .size_bytes = chunk_at(copy, place)->size_bytes};
    write_at(copy, &chunk, sizeof chunk, place->offset);
    if (copy->code == 0)
        place->used = 0;
}

static bool is_in_file(const struct ring_place *place)
{
    return place->used != 0 && place->stream == place->seen_stream &&
           place->order == place->seen_order;
}

/* Frees the places in the file whose chunk has changed. A chunk that is gone from memory is in the
 * trace. Its place is freed before anything is written over it.
 *
 * Both writers of the file, this process and the trace's, may be killed between any two writes. The
 * order within a pass keeps the file valid after each of them: places are freed first, then the
 * words of a chunk are written, then its header, which makes them valid, and last the page that
 * says what the copy has. A chunk that is in the file under its own number only grows; its old
 * words are not written again. */
static void drop_old(struct ring_copy *copy)
{
    for (size_t i = 0; i < copy->place_count && copy->code == 0; i++) {
        struct ring_place *place = &copy->places[i], now = *place;
        if (place->used == 0 || (place->seen && is_in_file(place)))
            continue;
        now.seen_stream = place->stream;
        now.seen_order = place->order;
        if (!is_unchanged(copy, &now))
            drop(copy, place);
    }
}

/* Makes the records up to there valid, unless the chunk was released meanwhile: then the trace has
 * them. */
static void write_chunk_header(struct ring_copy *copy, struct ring_place *place)
{
    struct step_live_chunk chunk;
    memcpy(&chunk, chunk_at(copy, place), sizeof chunk);
    if (!is_unchanged(copy, place))
        return;
    atomic_store_explicit(&chunk.used, place->seen_used, memory_order_relaxed);
    write_at(copy, &chunk, sizeof chunk, place->offset);
    if (copy->code != 0)
        return;
    place->stream = place->seen_stream;
    place->order = place->seen_order;
    place->used = place->seen_used;
}

/* Returns the number of words written. */
static uint64_t write_chunk(struct ring_copy *copy, struct ring_place *place)
{
    uint64_t from = is_in_file(place) ? place->used : 0, to = place->seen_used;
    if (to <= from)
        return 0;
    uint64_t start = sizeof(struct step_live_chunk) + from;
    const uint8_t *chunk = (const uint8_t *) chunk_at(copy, place);
    write_at(copy, chunk + start, to - from, place->offset + start);
    if (copy->code == 0)
        write_chunk_header(copy, place);
    return (to - from) / sizeof(uint64_t);
}

static uint64_t most_words(const struct ring_copy *copy)
{
    uint64_t most = 0;
    for (size_t i = 0; i < sizeof copy->recent / sizeof copy->recent[0]; i++)
        if (copy->recent[i] > most)
            most = copy->recent[i];
    return most;
}

static void write_header(struct ring_copy *copy, enum step_live_copy state, uint64_t raw)
{
    uint8_t page[STEP_LIVE_PAGE];
    memcpy(page, copy->ring, sizeof page);
    struct step_live_header *header = (struct step_live_header *) (void *) page;
    header->copy_state = (uint32_t) state;
    header->copied_by = (uint32_t) getpid();
    header->copied_stamp = raw > header->clock_zero ? raw - header->clock_zero : 0;
    header->copied_most = most_words(copy);
    write_at(copy, page, sizeof page, 0);
}

/* If the file was truncated, everything is written again. */
static void look_at_file(struct ring_copy *copy)
{
    struct stat now;
    bool is_cut = fstat(copy->file, &now) == 0 && (uint64_t) now.st_size < copy->file_bytes;
    for (size_t i = 0; i < copy->place_count; i++) {
        copy->places[i].seen = false;
        if (is_cut)
            copy->places[i].used = 0;
    }
}

/* The time is taken before the first look: everything that was published by then is found, so a
 * reader may say that nothing up to `copied_stamp` is missing. `sorted` has the global stream
 * first, because its number is 0; definitions therefore reach the file before the records that name
 * them. */
bool ring_copy_pass(struct ring_copy *copy, bool last)
{
    uint64_t raw = clock_raw(), words = 0;
    copy->code = 0;
    copy->sorted_count = 0;
    look_at_file(copy);
    if (copy->order_capacity != 0)
        memset(copy->orders, 0, copy->order_capacity * sizeof *copy->orders);
    if (!ring_copy_find_places(copy) || !look_at_streams(copy, false) ||
        !look_at_streams(copy, true))
        copy->code = ENOMEM;
    if (copy->sorted_count > 1)
        qsort(copy->sorted, copy->sorted_count, sizeof(struct ring_place *), compare_places);
    if (copy->code == 0)
        drop_old(copy);
    for (size_t i = 0; i < copy->sorted_count && copy->code == 0; i++)
        words += write_chunk(copy, copy->sorted[i]);
    if (copy->code == 0) {
        copy->recent[copy->passes++ % (sizeof copy->recent / sizeof copy->recent[0])] = words;
        write_header(copy, last ? STEP_LIVE_COPY_WHOLE : STEP_LIVE_COPY_RUNNING, raw);
    }
    return copy->code == 0;
}

void ring_copy_announce_end(const struct ring_copy *copy)
{
    const uint32_t state = STEP_LIVE_COPY_ENDING;
    ssize_t ignored = pwrite(copy->file, &state, sizeof state,
                             (off_t) offsetof(struct step_live_header, copy_state));
    (void) ignored;
}

void ring_copy_reset(struct ring_copy *copy)
{
    free(copy->places);
    free(copy->orders);
    free(copy->sorted);
    memset(copy, 0, sizeof *copy);
}
