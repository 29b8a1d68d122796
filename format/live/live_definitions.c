/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes raw records of the global stream that define dictionary entries or hold rare facts. */
#include "format/live/live_records.h"
#include "steptrace/java_trace.h"

/* Returns true if the entry is the next of its dictionary; existing entries are skipped, a gap is
 * damage. */
static bool entry_is_next(struct live_decoder *decoder, uint32_t record, uint64_t id,
                          enum step_status *status)
{
    uint64_t known = step_writer_dictionary_count(decoder->writer, record);
    *status = id <= known + 1 && id != 0 ? STEP_STATUS_OK : STEP_STATUS_CORRUPT;
    return id == known + 1;
}

enum step_status live_take_define_class(const struct raw *raw)
{
    enum step_status status;
    if (!entry_is_next(raw->decoder, STEP_JAVA_CLASS, raw->words[0] >> STEP_LIVE_KIND_BITS,
                       &status))
        return status;
    struct step_java_class entry = {
        .name = {(const uint8_t *) &raw->words[3], (size_t) raw->words[2]},
        .loader = raw->words[1]};
    return step_java_class_define(raw->decoder->writer, &entry, NULL);
}

static enum step_status take_define_field(const struct raw *raw)
{
    enum step_status status;
    if (!entry_is_next(raw->decoder, STEP_JAVA_FIELD, raw->words[0] >> STEP_LIVE_KIND_BITS,
                       &status))
        return status;
    const uint8_t *text = (const uint8_t *) &raw->words[4];
    size_t name_length = (size_t) (raw->words[3] & UINT32_MAX);
    struct step_java_field entry = {
        .class_ = raw->words[1],
        .name = {text, name_length},
        .descriptor = {text + name_length, (size_t) (raw->words[3] >> 32)},
        .modifiers = raw->words[2] & UINT32_MAX};
    return step_java_field_define(raw->decoder->writer, &entry, NULL);
}

static enum step_status take_define_phase_name(const struct raw *raw)
{
    enum step_status status;
    if (!entry_is_next(raw->decoder, STEP_JAVA_PHASE_NAME, raw->words[0] >> STEP_LIVE_KIND_BITS,
                       &status))
        return status;
    struct step_java_phase_name entry = {
        .name = {(const uint8_t *) &raw->words[4], (size_t) (raw->words[3] & UINT32_MAX)}};
    return step_java_phase_name_define(raw->decoder->writer, &entry, NULL);
}

static enum step_status take_define_source(const struct raw *raw)
{
    enum step_status status;
    if (!entry_is_next(raw->decoder, STEP_JAVA_SOURCE_FILE, raw->words[0] >> STEP_LIVE_KIND_BITS,
                       &status))
        return status;
    const uint8_t *text = (const uint8_t *) &raw->words[4];
    size_t file_length = (size_t) (raw->words[3] & UINT32_MAX);
    struct step_java_source_file entry = {
        .class_ = raw->words[1],
        .file = {text, file_length},
        .map = {text + file_length, (size_t) (raw->words[3] >> 32)}};
    return step_java_source_file_define(raw->decoder->writer, &entry, NULL);
}

static enum step_status take_define_layout(const struct raw *raw)
{
    enum step_status status;
    if (!entry_is_next(raw->decoder, STEP_JAVA_LAYOUT, raw->words[0] >> STEP_LIVE_KIND_BITS,
                       &status))
        return status;
    struct step_java_layout entry = {
        .class_ = raw->words[1],
        .super = raw->words[2] & UINT32_MAX,
        .fields = {(const uint8_t *) &raw->words[4], (size_t) (raw->words[3] & UINT32_MAX)}};
    return step_java_layout_define(raw->decoder->writer, &entry, NULL);
}

enum step_status live_take_define_method(const struct raw *raw)
{
    enum step_status status;
    if ((raw->words[2] & STEP_LIVE_IS_FIELD) != 0)
        return take_define_field(raw);
    if ((raw->words[2] & STEP_LIVE_IS_PHASE_NAME) != 0)
        return take_define_phase_name(raw);
    if ((raw->words[2] & STEP_LIVE_IS_SOURCE) != 0)
        return take_define_source(raw);
    if ((raw->words[2] & STEP_LIVE_IS_LAYOUT) != 0)
        return take_define_layout(raw);
    if (!entry_is_next(raw->decoder, STEP_JAVA_METHOD, raw->words[0] >> STEP_LIVE_KIND_BITS,
                       &status))
        return status;
    const uint8_t *text = (const uint8_t *) &raw->words[4];
    size_t name_length = (size_t) (raw->words[3] & UINT32_MAX);
    struct step_java_method entry = {
        .class_ = raw->words[1],
        .name = {text, name_length},
        .descriptor = {text + name_length, (size_t) (raw->words[3] >> 32)},
        .modifiers = raw->words[2]};
    return step_java_method_define(raw->decoder->writer, &entry, NULL);
}

enum step_status live_take_define_thread(const struct raw *raw)
{
    enum step_status status;
    if (!entry_is_next(raw->decoder, STEP_JAVA_THREAD, raw->words[0] >> STEP_LIVE_KIND_BITS,
                       &status))
        return status;
    struct step_java_thread entry = {
        .name = {(const uint8_t *) &raw->words[3], (size_t) raw->words[2]}, .flags = raw->words[1]};
    return step_java_thread_define(raw->decoder->writer, &entry, NULL);
}

enum step_status live_take_define_frame(const struct raw *raw)
{
    enum step_status status;
    if (!entry_is_next(raw->decoder, STEP_JAVA_FRAME, raw->words[0] >> STEP_LIVE_KIND_BITS,
                       &status))
        return status;
    struct step_java_frame entry = {.parent = raw->words[1] & UINT32_MAX,
                                    .method = raw->words[1] >> 32,
                                    .line = raw->words[2] & UINT32_MAX,
                                    .bytecode = raw->words[2] >> 32};
    return step_java_frame_define(raw->decoder->writer, &entry, NULL);
}

/* Takes the next text of a fact.  Returns false if it is longer than the rest. */
static bool take_text(const uint8_t **at, uint64_t *left, uint64_t length, struct step_bytes *text)
{
    *text = (struct step_bytes){*at, (size_t) length};
    if (length > *left)
        return false;
    *at += length;
    *left -= length;
    return true;
}

static enum step_status take_not_probed(const struct raw *raw, const uint64_t *words,
                                        uint64_t length)
{
    struct step_java_not_probed event = {.time = raw->ticks, .thread = raw->state->thread};
    if (length < 3 * WORD_BYTES)
        return STEP_STATUS_CORRUPT;
    const uint8_t *at = (const uint8_t *) &words[3];
    uint64_t left = length - 3 * WORD_BYTES;
    event.missing = words[0];
    if (!take_text(&at, &left, words[1] & UINT32_MAX, &event.class_) ||
        !take_text(&at, &left, words[1] >> 32, &event.method) ||
        !take_text(&at, &left, words[2] & UINT32_MAX, &event.descriptor) ||
        !take_text(&at, &left, words[2] >> 32, &event.reason))
        return STEP_STATUS_CORRUPT;
    return step_java_not_probed_put(raw->decoder->writer, raw->stream, &event);
}

static enum step_status take_method_count(const struct raw *raw, const uint64_t *words,
                                          uint64_t length)
{
    if (length < STEP_LIVE_METHOD_COUNT_BYTES)
        return STEP_STATUS_CORRUPT;
    struct step_java_method_count event = {.time = raw->ticks,
                                           .thread = raw->state->thread,
                                           .method = words[0],
                                           .calls = words[1],
                                           .exceptions = words[2],
                                           .inclusive = words[3],
                                           .exclusive = words[4]};
    return step_java_method_count_put(raw->decoder->writer, raw->stream, &event);
}

/* record_words() has checked that it is complete. */
enum step_status live_take_fact(const struct raw *raw)
{
    switch (raw->words[1]) {
    case STEP_LIVE_NOT_PROBED:
        return take_not_probed(raw, &raw->words[3], raw->words[2]);
    case STEP_LIVE_METHOD_COUNT:
        return take_method_count(raw, &raw->words[3], raw->words[2]);
    case STEP_LIVE_PHASE:
        return raw->words[2] < STEP_LIVE_PHASE_BYTES ? STEP_STATUS_CORRUPT : live_take_phase(raw);
    case STEP_LIVE_SAMPLED:
        return raw->words[2] < STEP_LIVE_SAMPLED_BYTES ? STEP_STATUS_CORRUPT
                                                       : live_take_sampled(raw);
    case STEP_LIVE_GIVEN_UP:
        return raw->words[2] < STEP_LIVE_GIVEN_UP_BYTES ? STEP_STATUS_CORRUPT
                                                        : live_take_given_up(raw);
    default:
        return STEP_STATUS_CORRUPT;
    }
}
