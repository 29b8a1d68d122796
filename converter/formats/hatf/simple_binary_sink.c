/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a heap trace as the HATF paper's "simple binary": four numbers per record (section 3), for
 * comparison and for simple readers. */
#include <inttypes.h>

#include "converter/formats/hatf/hatf_format.h"
#include "converter/trace/trace_sink.h"

enum { FIELDS = 4, FIELD_BYTES_MOST = 8 };

struct simple_sink {
    struct trace_sink base;
    size_t field_bytes;
    uint64_t record_count;
};

/* Copies the fields for which the format has room. */
static void simple_binary_take_fields(const struct hatf_record *record, uint64_t *fields)
{
    fields[0] = record->tag;
    fields[1] = record->size;
    fields[2] = record->address;
    fields[3] = record->new_address;
    if (hatf_tag_has(record->tag, HATF_ADDRESS))
        return;
    fields[1] = record->heap;
    fields[2] = record->thread;
}

static enum step_status simple_binary_refuse(const struct simple_sink *sink, uint64_t value,
                                             struct step_error *error)
{
    return step_error_set(error, STEP_STATUS_LIMIT, sink->base.file->path, STEP_NO_OFFSET,
                          "record %" PRIu64 ": %" PRIu64
                          " does not fit in 4 bytes (--field-bytes=8 has room)",
                          sink->record_count, value);
}

static enum step_status simple_binary_put(struct trace_sink *base, const struct hatf_record *record,
                                          struct step_error *error)
{
    struct simple_sink *sink = (struct simple_sink *) base;
    uint64_t fields[FIELDS];
    uint8_t bytes[FIELDS * FIELD_BYTES_MOST];
    size_t used = 0;
    if (record->tag == HATF_COMMENT || record->tag == HATF_METADATA)
        return STEP_STATUS_OK;
    sink->record_count++;
    simple_binary_take_fields(record, fields);
    for (unsigned i = 0; i < FIELDS; i++) {
        if (sink->field_bytes == 4 && fields[i] > UINT32_MAX)
            return simple_binary_refuse(sink, fields[i], error);
        for (size_t byte = sink->field_bytes; byte-- > 0;)
            bytes[used++] = (uint8_t) (fields[i] >> 8 * byte);
    }
    fwrite_unlocked(bytes, 1, used, base->stream.file);
    return STEP_STATUS_OK;
}

static enum step_status simple_binary_open(struct trace_sink *base, const struct format_output *to,
                                           struct step_error *error)
{
    struct simple_sink *sink = (struct simple_sink *) base;
    const unsigned *width = format_settings_get(to->settings, &simple_binary_options);
    (void) error;
    sink->field_bytes = *width == 1 ? 4 : FIELD_BYTES_MOST;
    return STEP_STATUS_OK;
}

const struct trace_sink_operations simple_binary_sink_operations = {
    .size_bytes = sizeof(struct simple_sink),
    .prints = true,
    .open = simple_binary_open,
    .put_alloc = simple_binary_put,
};
