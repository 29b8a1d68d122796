/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes raw records of references: stores, and the edges and roots of snapshots. */
#include <string.h>

#include "format/live/live_records.h"
#include "steptrace/java_trace.h"

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

/* The parts of a REFERENCE: its ids and numbers, and halves of the latter. */
enum part { FIRST, SECOND, NUMBER, KIND, DEPTH, MORE, LOW, HIGH, UNKNOWN, SNAPSHOT, REASON, PARTS };

/* Slots after time and thread are in the order of format/definitions/java.step, which
 * live_recover.c checks. */
static const struct {
    uint32_t record;
    uint8_t parts[5];
} rows[] = {
    [STEP_LIVE_FIELD_STORE] = {STEP_JAVA_FIELD_STORE, {FIRST, SECOND, NUMBER}},
    [STEP_LIVE_ELEMENT_STORE] = {STEP_JAVA_ELEMENT_STORE, {FIRST, SECOND, NUMBER}},
    [STEP_LIVE_CLONE_STORE] = {STEP_JAVA_CLONE_STORE, {SECOND, FIRST}},
    [STEP_LIVE_SNAPSHOT] = {STEP_JAVA_SNAPSHOT, {FIRST, REASON}},
    [STEP_LIVE_FIELD_EDGE] = {STEP_JAVA_FIELD_REFERENCE, {FIRST, SECOND, NUMBER}},
    [STEP_LIVE_ELEMENT_EDGE] = {STEP_JAVA_ELEMENT_REFERENCE, {FIRST, SECOND, NUMBER}},
    [STEP_LIVE_OTHER_EDGE] = {STEP_JAVA_OTHER_REFERENCE, {FIRST, SECOND, NUMBER}},
    [STEP_LIVE_RANGE_STORE] = {STEP_JAVA_RANGE_STORE, {SECOND, LOW, FIRST, HIGH, NUMBER}},
    [STEP_LIVE_ROOT] = {STEP_JAVA_ROOT, {SECOND, KIND, FIRST, MORE, DEPTH}},
    [STEP_LIVE_SNAPSHOT_END] = {STEP_JAVA_SNAPSHOT_END, {SNAPSHOT, FIRST, SECOND, NUMBER, UNKNOWN}},
};

enum step_status live_put_reference(struct live_decoder *decoder, uint64_t stream,
                                    const struct window_event *from)
{
    static const char *const reasons[STEP_LIVE_SNAPSHOT_REASONS] = {"start", "end", "command",
                                                                    "every"};
    const uint64_t ids = (UINT64_C(1) << STEP_LIVE_REFERENCE_ID_BITS) - 1;
    uint64_t kind = kind_of(from->name), more = from->stack;
    uint64_t number = from->name >> 44 | from->object >> STEP_LIVE_REFERENCE_ID_BITS << 20;
    struct step_bytes reason = {NULL, 0};
    uint64_t values[PARTS] = {[FIRST] = from->name >> 4 & ids,
                              [SECOND] = from->object & ids,
                              [NUMBER] = number,
                              [KIND] = number & 255,
                              [DEPTH] = number >> 8,
                              [MORE] = more,
                              [LOW] = more & UINT32_MAX,
                              [HIGH] = more >> 32,
                              [UNKNOWN] = more & ids,
                              [SNAPSHOT] = more >> STEP_LIVE_REFERENCE_ID_BITS,
                              [REASON] = step_slot_of_bytes(&reason)};
    if (kind == STEP_LIVE_SNAPSHOT && values[SECOND] >= STEP_LIVE_SNAPSHOT_REASONS)
        return STEP_STATUS_CORRUPT;
    if (kind == STEP_LIVE_SNAPSHOT)
        reason = (struct step_bytes){(const uint8_t *) reasons[values[SECOND]],
                                     strlen(reasons[values[SECOND]])};
    uint64_t slots[7] = {from->ticks, from->thread};
    for (size_t i = 0; i < sizeof rows[kind].parts; i++)
        slots[2 + i] = values[rows[kind].parts[i]];
    return step_writer_put(decoder->streams.writer, stream, rows[kind].record, slots);
}
