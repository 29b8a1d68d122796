/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a heap trace as text: HATF's lines, or the format of Android's memory_replay. */
#include <inttypes.h>
#include <stdio.h>

#include "converter/formats/hatf/hatf_format.h"
#include "converter/trace/trace_sink.h"

struct line_sink {
    struct trace_sink base;
    size_t (*format)(struct line_sink *sink, const struct hatf_record *record, char *out);
    unsigned own_records; /* memory_replay: records that still belong to the last realloc */
    struct hatf_record last_realloc;
    char line[HATF_LINE_MAX];
};

/* Formats metadata as a comment, in the words of the paper. */
static size_t format_metadata(const struct hatf_metadata *metadata, char *out)
{
    const char *const field = hatf_field_name((enum hatf_field) metadata->field);
    const enum hatf_interpretation kind = (enum hatf_interpretation) metadata->argument;
    int length;
    if (metadata->operation == HATF_SET_WIDTH && metadata->argument >= HATF_WIDTH_V1)
        length =
            sprintf(out, "# set fieldSize %s v%d\n", field, metadata->argument - HATF_WIDTH_V1 + 1);
    else if (metadata->operation == HATF_SET_WIDTH)
        length = sprintf(out, "# set fieldSize %s %u\n", field, metadata->argument);
    else if (kind == HATF_NONE)
        length = sprintf(out, "# set fieldInterpretation %s none\n", field);
    else if (kind == HATF_STRIDE)
        length = sprintf(out, "# set fieldInterpretation %s stride %" PRIu64 " %" PRId64 "\n",
                         field, metadata->value, (int64_t) metadata->stride);
    else
        length = sprintf(out, "# set fieldInterpretation %s %s %" PRIu64 "\n", field,
                         hatf_interpretation_name(kind), metadata->value);
    return (size_t) length;
}

static size_t format_line(struct line_sink *sink, const struct hatf_record *record, char *out)
{
    (void) sink;
    return record->tag == HATF_METADATA ? format_metadata(&record->metadata, out)
                                        : hatf_line_format(record, out);
}

/* ---- memory_replay ---- */

enum { OWN_ALLOC = 1, OWN_FREE = 2 };

/* Records that belong to a realloc itself must not be passed to memory_replay. */
static bool hatf_text_is_own(struct line_sink *sink, const struct hatf_record *record)
{
    const struct hatf_record *last = &sink->last_realloc;
    if (sink->own_records == 0 || record->thread != last->thread)
        return false;
    if ((sink->own_records & OWN_ALLOC) != 0 && record->tag == HATF_ALLOC &&
        record->address == last->new_address) {
        sink->own_records &= ~(unsigned) OWN_ALLOC;
        return true;
    }
    if ((sink->own_records & OWN_FREE) != 0 && record->tag == HATF_FREE &&
        record->address == last->address) {
        sink->own_records &= ~(unsigned) OWN_FREE;
        return true;
    }
    return false;
}

static int format_realloc(struct line_sink *sink, const struct hatf_record *record, char *out)
{
    static const uint8_t own[] = {[HATF_REALLOC_NO_ALLOC] = 0,
                                  [HATF_REALLOC_ALLOC_FREE] = OWN_ALLOC | OWN_FREE,
                                  [HATF_REALLOC_ALLOC] = OWN_ALLOC,
                                  [HATF_REALLOC_FREE] = OWN_FREE};
    sink->own_records = own[record->tag];
    sink->last_realloc = *record;
    if (record->tag == HATF_REALLOC_NO_ALLOC && record->new_address == 0)
        return 0; /* it failed */
    return sprintf(out, "%" PRIu64 ": realloc 0x%" PRIx64 " 0x%" PRIx64 " %" PRIu64 "\n",
                   record->thread, record->new_address, record->address, record->size);
}

static size_t format_replay(struct line_sink *sink, const struct hatf_record *record, char *out)
{
    int length = 0;
    switch (record->tag) {
    case HATF_ALLOC:
        if (!hatf_text_is_own(sink, record))
            length = sprintf(out, "%" PRIu64 ": malloc 0x%" PRIx64 " %" PRIu64 "\n", record->thread,
                             record->address, record->size);
        break;
    case HATF_FREE:
        if (!hatf_text_is_own(sink, record))
            length =
                sprintf(out, "%" PRIu64 ": free 0x%" PRIx64 "\n", record->thread, record->address);
        break;
    case HATF_REALLOC_NO_ALLOC:
    case HATF_REALLOC_ALLOC_FREE:
    case HATF_REALLOC_ALLOC:
    case HATF_REALLOC_FREE:
        length = format_realloc(sink, record, out);
        break;
    case HATF_DESTROY_THREAD:
        length = sprintf(out, "%" PRIu64 ": thread_done 0x0\n", record->thread);
        break;
    default:
        break;
    }
    return length > 0 ? (size_t) length : 0;
}

/* ---- both ---- */

static enum step_status hatf_text_put(struct trace_sink *base, const struct hatf_record *record,
                                      struct step_error *error)
{
    struct line_sink *sink = (struct line_sink *) base;
    (void) error;
    fwrite_unlocked(sink->line, 1, sink->format(sink, record, sink->line), base->stream.file);
    return STEP_STATUS_OK;
}

static enum step_status hatf_text_open(struct trace_sink *base, const struct format_output *to,
                                       struct step_error *error)
{
    struct line_sink *sink = (struct line_sink *) base;
    (void) error;
    sink->format = to->format == &format_memory_replay ? format_replay : format_line;
    return STEP_STATUS_OK;
}

const struct trace_sink_operations hatf_text_sink_operations = {
    .size_bytes = sizeof(struct line_sink),
    .prints = true,
    .open = hatf_text_open,
    .put_alloc = hatf_text_put,
};
