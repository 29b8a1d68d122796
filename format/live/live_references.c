/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes raw records of references: stores, and the edges and roots of snapshots. */
#include <string.h>

#include "format/live/live_records.h"
#include "steptrace/java_trace.h"

/* The parts of a REFERENCE. */
struct reference {
    struct step_writer *writer;
    uint64_t stream, time, thread;
    uint64_t kind, first, second, number, more;
};

static uint64_t kind_of(uint64_t word)
{
    return word & 15;
}

size_t live_reference_words(const uint64_t *words, size_t count)
{
    uint64_t kind = kind_of(words[1]);
    if (kind < STEP_LIVE_FIELD_STORE || kind > STEP_LIVE_SNAPSHOT_END)
        return SIZE_MAX;
    size_t total = kind >= STEP_LIVE_RANGE_STORE ? 4 : 3;
    return total <= count ? total : 0;
}

/* Slots are in the order of format/definitions/java.step, which live_recover.c checks. */
static enum step_status put(const struct reference *from, uint32_t record, const uint64_t *slots)
{
    return step_writer_put(from->writer, from->stream, record, slots);
}

/* Stores and edges of a holder, with a field, an index or a kind. */
static enum step_status put_pair(const struct reference *from)
{
    static const uint32_t records[] = {
        [STEP_LIVE_FIELD_STORE] = STEP_JAVA_FIELD_STORE,
        [STEP_LIVE_ELEMENT_STORE] = STEP_JAVA_ELEMENT_STORE,
        [STEP_LIVE_FIELD_EDGE] = STEP_JAVA_FIELD_REFERENCE,
        [STEP_LIVE_ELEMENT_EDGE] = STEP_JAVA_ELEMENT_REFERENCE,
        [STEP_LIVE_OTHER_EDGE] = STEP_JAVA_OTHER_REFERENCE,
    };
    const uint64_t slots[] = {from->time, from->thread, from->first, from->second, from->number};
    return put(from, records[from->kind], slots);
}

static enum step_status put_clone_store(const struct reference *from)
{
    const uint64_t slots[] = {from->time, from->thread, from->second, from->first};
    return put(from, STEP_JAVA_CLONE_STORE, slots);
}

static enum step_status put_range_store(const struct reference *from)
{
    const uint64_t slots[] = {from->time,  from->thread,     from->second, from->more & UINT32_MAX,
                              from->first, from->more >> 32, from->number};
    return put(from, STEP_JAVA_RANGE_STORE, slots);
}

static enum step_status put_snapshot(const struct reference *from)
{
    static const char *const reasons[STEP_LIVE_SNAPSHOT_REASONS] = {"start", "end", "command",
                                                                    "every"};
    if (from->second >= STEP_LIVE_SNAPSHOT_REASONS)
        return STEP_STATUS_CORRUPT;
    const struct step_bytes reason = {(const uint8_t *) reasons[from->second],
                                      strlen(reasons[from->second])};
    const uint64_t slots[] = {from->time, from->thread, from->first, step_slot_of_bytes(&reason)};
    return put(from, STEP_JAVA_SNAPSHOT, slots);
}

static enum step_status put_snapshot_end(const struct reference *from)
{
    uint64_t unknown = from->more & ((UINT64_C(1) << STEP_LIVE_REFERENCE_ID_BITS) - 1);
    const uint64_t slots[] = {from->time,  from->thread, from->more >> STEP_LIVE_REFERENCE_ID_BITS,
                              from->first, from->second, from->number,
                              unknown};
    return put(from, STEP_JAVA_SNAPSHOT_END, slots);
}

static enum step_status put_root(const struct reference *from)
{
    const uint64_t slots[] = {from->time,  from->thread, from->second,     from->number & 255,
                              from->first, from->more,   from->number >> 8};
    return put(from, STEP_JAVA_ROOT, slots);
}

enum step_status live_put_reference(struct live_decoder *decoder, uint64_t stream,
                                    const struct window_event *from)
{
    static enum step_status (*const puts[])(const struct reference *) = {
        [STEP_LIVE_FIELD_STORE] = put_pair,
        [STEP_LIVE_ELEMENT_STORE] = put_pair,
        [STEP_LIVE_CLONE_STORE] = put_clone_store,
        [STEP_LIVE_SNAPSHOT] = put_snapshot,
        [STEP_LIVE_FIELD_EDGE] = put_pair,
        [STEP_LIVE_ELEMENT_EDGE] = put_pair,
        [STEP_LIVE_OTHER_EDGE] = put_pair,
        [STEP_LIVE_RANGE_STORE] = put_range_store,
        [STEP_LIVE_ROOT] = put_root,
        [STEP_LIVE_SNAPSHOT_END] = put_snapshot_end,
    };
    struct reference reference = {
        .writer = decoder->writer,
        .stream = stream,
        .time = from->ticks,
        .thread = from->thread,
        .kind = kind_of(from->name),
        .first = from->name >> 4 & ((UINT64_C(1) << STEP_LIVE_REFERENCE_ID_BITS) - 1),
        .second = from->object & ((UINT64_C(1) << STEP_LIVE_REFERENCE_ID_BITS) - 1),
        .number = from->name >> 44 | from->object >> STEP_LIVE_REFERENCE_ID_BITS << 20,
        .more = from->stack};
    return puts[reference.kind](&reference);
}
