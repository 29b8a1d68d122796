/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes raw records of references: stores, and the edges and roots of snapshots. */
#include <string.h>

#include "format/live/live_records.h"
#include "steptrace/java_trace.h"

/* The parts of a REFERENCE. */
struct reference {
    struct step_writer *writer;
    uint64_t stream, time, thread;
    uint64_t first, second, number, more;
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

static enum step_status put_field_store(const struct reference *from)
{
    struct step_java_field_store event = {.time = from->time,
                                          .thread = from->thread,
                                          .holder = from->first,
                                          .target = from->second,
                                          .field = from->number};
    return step_java_field_store_put(from->writer, from->stream, &event);
}

static enum step_status put_element_store(const struct reference *from)
{
    struct step_java_element_store event = {.time = from->time,
                                            .thread = from->thread,
                                            .holder = from->first,
                                            .target = from->second,
                                            .index = from->number};
    return step_java_element_store_put(from->writer, from->stream, &event);
}

static enum step_status put_clone_store(const struct reference *from)
{
    struct step_java_clone_store event = {
        .time = from->time, .thread = from->thread, .source = from->second, .holder = from->first};
    return step_java_clone_store_put(from->writer, from->stream, &event);
}

static enum step_status put_range_store(const struct reference *from)
{
    struct step_java_range_store event = {.time = from->time,
                                          .thread = from->thread,
                                          .source = from->second,
                                          .source_index = from->more & UINT32_MAX,
                                          .holder = from->first,
                                          .index = from->more >> 32,
                                          .length = from->number};
    return step_java_range_store_put(from->writer, from->stream, &event);
}

static enum step_status put_snapshot(const struct reference *from)
{
    static const char *const reasons[STEP_LIVE_SNAPSHOT_REASONS] = {"start", "end", "command",
                                                                    "every"};
    if (from->second >= STEP_LIVE_SNAPSHOT_REASONS)
        return STEP_STATUS_CORRUPT;
    const char *reason = reasons[from->second];
    struct step_java_snapshot event = {.time = from->time,
                                       .thread = from->thread,
                                       .number = from->first,
                                       .reason = {(const uint8_t *) reason, strlen(reason)}};
    return step_java_snapshot_put(from->writer, from->stream, &event);
}

static enum step_status put_snapshot_end(const struct reference *from)
{
    struct step_java_snapshot_end event = {
        .time = from->time,
        .thread = from->thread,
        .number = from->more >> STEP_LIVE_REFERENCE_ID_BITS,
        .objects = from->first,
        .references = from->second,
        .roots = from->number,
        .unknown = from->more & ((UINT64_C(1) << STEP_LIVE_REFERENCE_ID_BITS) - 1)};
    return step_java_snapshot_end_put(from->writer, from->stream, &event);
}

static enum step_status put_field_edge(const struct reference *from)
{
    struct step_java_field_reference event = {.time = from->time,
                                              .thread = from->thread,
                                              .holder = from->first,
                                              .target = from->second,
                                              .field = from->number};
    return step_java_field_reference_put(from->writer, from->stream, &event);
}

static enum step_status put_element_edge(const struct reference *from)
{
    struct step_java_element_reference event = {.time = from->time,
                                                .thread = from->thread,
                                                .holder = from->first,
                                                .target = from->second,
                                                .index = from->number};
    return step_java_element_reference_put(from->writer, from->stream, &event);
}

static enum step_status put_other_edge(const struct reference *from)
{
    struct step_java_other_reference event = {.time = from->time,
                                              .thread = from->thread,
                                              .holder = from->first,
                                              .target = from->second,
                                              .kind = from->number};
    return step_java_other_reference_put(from->writer, from->stream, &event);
}

static enum step_status put_root(const struct reference *from)
{
    struct step_java_root event = {.time = from->time,
                                   .thread = from->thread,
                                   .target = from->second,
                                   .kind = from->number & 255,
                                   .owner = from->first,
                                   .method = from->more,
                                   .depth = from->number >> 8};
    return step_java_root_put(from->writer, from->stream, &event);
}

enum step_status live_put_reference(struct live_decoder *decoder, uint64_t stream,
                                    const struct window_event *from)
{
    static enum step_status (*const puts[])(const struct reference *) = {
        [STEP_LIVE_FIELD_STORE] = put_field_store,
        [STEP_LIVE_ELEMENT_STORE] = put_element_store,
        [STEP_LIVE_CLONE_STORE] = put_clone_store,
        [STEP_LIVE_SNAPSHOT] = put_snapshot,
        [STEP_LIVE_FIELD_EDGE] = put_field_edge,
        [STEP_LIVE_ELEMENT_EDGE] = put_element_edge,
        [STEP_LIVE_OTHER_EDGE] = put_other_edge,
        [STEP_LIVE_RANGE_STORE] = put_range_store,
        [STEP_LIVE_ROOT] = put_root,
        [STEP_LIVE_SNAPSHOT_END] = put_snapshot_end,
    };
    struct reference reference = {
        .writer = decoder->writer,
        .stream = stream,
        .time = from->ticks,
        .thread = from->thread,
        .first = from->name >> 4 & ((UINT64_C(1) << STEP_LIVE_REFERENCE_ID_BITS) - 1),
        .second = from->object & ((UINT64_C(1) << STEP_LIVE_REFERENCE_ID_BITS) - 1),
        .number = from->name >> 44 | from->object >> STEP_LIVE_REFERENCE_ID_BITS << 20,
        .more = from->stack};
    return puts[kind_of(from->name)](&reference);
}
