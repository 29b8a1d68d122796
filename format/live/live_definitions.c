/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes raw records of the global stream that define dictionary entries or hold rare facts. */
#include "format/live/live_records.h"
#include "steptrace/java_trace.h"

/* ---- slots, in the order of format/definitions/java.step, which live_recover.c checks ---- */

/* Adds the entry if it is the next of its dictionary; existing entries are skipped, a gap is
 * damage.  Definitions are written under a lock before they are used, so in an undamaged stream
 * their numbers ascend by one.  A gap would give all later entries the wrong number, and their uses
 * another meaning. */
static enum step_status live_definitions_define(const struct raw *raw, uint32_t record,
                                                const uint64_t *slots)
{
    struct step_writer *writer = raw->decoder->streams.writer;
    uint64_t id = raw->words[0] >> STEP_LIVE_KIND_BITS;
    uint64_t known = step_writer_dictionary_count(writer, record);
    if (id == 0 || id > known + 1)
        return STEP_STATUS_CORRUPT;
    return id == known + 1 ? step_writer_define(writer, record, slots, NULL) : STEP_STATUS_OK;
}

/* A class or a thread: a name, and a number. */
enum step_status live_take_define_named(const struct raw *raw)
{
    bool is_class = live_kind(raw->words[0]) == STEP_LIVE_DEFINE_CLASS;
    const struct step_bytes name = {(const uint8_t *) &raw->words[3], (size_t) raw->words[2]};
    const uint64_t slots[] = {step_slot_of_bytes(&name), raw->words[1]};
    return live_definitions_define(raw, is_class ? STEP_JAVA_CLASS : STEP_JAVA_THREAD, slots);
}

/* The second word says of which dictionary it is. */
enum step_status live_take_define_method(const struct raw *raw)
{
    const uint8_t *text = (const uint8_t *) &raw->words[4];
    size_t length = (size_t) (raw->words[3] & UINT32_MAX);
    const struct step_bytes first = {text, length};
    const struct step_bytes second = {text + length, (size_t) (raw->words[3] >> 32)};
    uint64_t class_id = raw->words[1], flags = raw->words[2];
    uint64_t one = step_slot_of_bytes(&first), two = step_slot_of_bytes(&second);
    if ((flags & STEP_LIVE_IS_FIELD) != 0)
        return live_definitions_define(raw, STEP_JAVA_FIELD,
                                       (const uint64_t[]){class_id, one, two, flags & UINT32_MAX});
    if ((flags & STEP_LIVE_IS_PHASE_NAME) != 0)
        return live_definitions_define(raw, STEP_JAVA_PHASE_NAME, &one);
    if ((flags & STEP_LIVE_IS_SOURCE) != 0)
        return live_definitions_define(raw, STEP_JAVA_SOURCE_FILE,
                                       (const uint64_t[]){class_id, one, two});
    if ((flags & STEP_LIVE_IS_LAYOUT) != 0)
        return live_definitions_define(raw, STEP_JAVA_LAYOUT,
                                       (const uint64_t[]){class_id, flags & UINT32_MAX, one});
    return live_definitions_define(raw, STEP_JAVA_METHOD,
                                   (const uint64_t[]){class_id, one, two, flags});
}

enum step_status live_take_define_frame(const struct raw *raw)
{
    const uint64_t slots[] = {raw->words[1] & UINT32_MAX, raw->words[1] >> 32,
                              raw->words[2] & UINT32_MAX, raw->words[2] >> 32};
    return live_definitions_define(raw, STEP_JAVA_FRAME, slots);
}

/* Takes the next text of a fact.  Returns false if it is longer than the rest. */
static bool live_definitions_take_text(const uint8_t **at, uint64_t *left, uint64_t length,
                                       struct step_bytes *text)
{
    *text = (struct step_bytes){*at, (size_t) length};
    if (length > *left)
        return false;
    *at += length;
    *left -= length;
    return true;
}

static enum step_status take_not_probed(const struct raw *raw)
{
    struct step_java_not_probed event = {.time = raw->ticks, .thread = raw->state->thread};
    const uint64_t *words = &raw->words[3];
    const uint8_t *at = (const uint8_t *) &words[3];
    uint64_t left = raw->words[2] - 3 * WORD_BYTES;
    event.missing = words[0];
    if (!live_definitions_take_text(&at, &left, words[1] & UINT32_MAX, &event.class_) ||
        !live_definitions_take_text(&at, &left, words[1] >> 32, &event.method) ||
        !live_definitions_take_text(&at, &left, words[2] & UINT32_MAX, &event.descriptor) ||
        !live_definitions_take_text(&at, &left, words[2] >> 32, &event.reason))
        return STEP_STATUS_CORRUPT;
    return step_java_not_probed_put(raw->decoder->streams.writer, raw->stream, &event);
}

static enum step_status take_method_count(const struct raw *raw)
{
    const uint64_t *words = &raw->words[3];
    const uint64_t slots[] = {raw->ticks, raw->state->thread, words[0], words[1],
                              words[2],   words[3],           words[4]};
    return step_writer_put(raw->decoder->streams.writer, raw->stream, STEP_JAVA_METHOD_COUNT,
                           slots);
}

static enum step_status take_eden_class(const struct raw *raw)
{
    const uint64_t *words = &raw->words[3];
    const uint64_t slots[] = {raw->ticks, raw->state->thread, words[0],
                              words[1],   words[2],           words[3]};
    return step_writer_put(raw->decoder->streams.writer, raw->stream, STEP_JAVA_EDEN_CLASS, slots);
}

static enum step_status take_eden_survived(const struct raw *raw)
{
    const uint64_t *words = &raw->words[3];
    const uint64_t slots[] = {raw->ticks, raw->state->thread, words[0], words[1],
                              words[2],   words[3],           words[4], words[5]};
    return step_writer_put(raw->decoder->streams.writer, raw->stream, STEP_JAVA_EDEN_SURVIVED,
                           slots);
}

static enum step_status take_eden_age(const struct raw *raw)
{
    const uint64_t *words = &raw->words[3];
    const uint64_t slots[] = {raw->ticks, raw->state->thread, words[0], words[1],
                              words[2],   words[3],           words[4]};
    return step_writer_put(raw->decoder->streams.writer, raw->stream, STEP_JAVA_EDEN_AGE, slots);
}

static enum step_status take_eden_walk(const struct raw *raw)
{
    const uint64_t *words = &raw->words[3];
    const uint64_t slots[] = {raw->ticks, raw->state->thread, words[0], words[1],
                              words[2],   words[3],           words[4], words[5]};
    return step_writer_put(raw->decoder->streams.writer, raw->stream, STEP_JAVA_EDEN_WALK, slots);
}

/* By enum step_live_fact. */
static const struct {
    uint64_t least; /* bytes */
    enum step_status (*take)(const struct raw *raw);
} facts[] = {
    [STEP_LIVE_NOT_PROBED] = {3 * WORD_BYTES, take_not_probed},
    [STEP_LIVE_METHOD_COUNT] = {STEP_LIVE_METHOD_COUNT_BYTES, take_method_count},
    [STEP_LIVE_PHASE] = {STEP_LIVE_PHASE_BYTES, live_take_phase},
    [STEP_LIVE_SAMPLED] = {STEP_LIVE_SAMPLED_BYTES, live_take_sampled},
    [STEP_LIVE_GIVEN_UP] = {STEP_LIVE_GIVEN_UP_BYTES, live_take_given_up},
    [STEP_LIVE_EDEN_CLASS] = {STEP_LIVE_EDEN_CLASS_BYTES, take_eden_class},
    [STEP_LIVE_EDEN_WALK] = {STEP_LIVE_EDEN_WALK_BYTES, take_eden_walk},
    [STEP_LIVE_EDEN_SURVIVED] = {STEP_LIVE_EDEN_SURVIVED_BYTES, take_eden_survived},
    [STEP_LIVE_EDEN_AGE] = {STEP_LIVE_EDEN_AGE_BYTES, take_eden_age},
};

/* live_record_words() has checked that it is complete.  Each fact has its least length here, as its
 * function reads words without looking. */
enum step_status live_take_fact(const struct raw *raw)
{
    uint64_t fact = raw->words[1];
    if (fact >= sizeof facts / sizeof facts[0] || facts[fact].take == NULL ||
        raw->words[2] < facts[fact].least)
        return STEP_STATUS_CORRUPT;
    return facts[fact].take(raw);
}
