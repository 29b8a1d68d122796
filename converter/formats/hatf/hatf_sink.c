/* SPDX-License-Identifier: Apache-2.0 */
/* Writes HATF files in any encoding, compressed or split. */
#include <string.h>

#include "converter/formats/hatf/hatf_format.h"
#include "converter/trace/trace_sink.h"

#define COMMENT_START "HATF 1.0"
#define COMMENT COMMENT_START ", written by steptrace"

struct hatf_sink {
    struct trace_sink base;
    struct hatf_writer *writer;
    struct hatf_encoder *encoder;
    bool begun; /* the first record was written */
};

/* Writes the comment at the start of StepTrace's files, unless the trace already has it. */
static enum step_status hatf_sink_begin(struct hatf_sink *sink, const struct hatf_record *first,
                                        struct step_error *error)
{
    const size_t length = sizeof COMMENT_START - 1;
    const struct hatf_record comment = {.tag = HATF_COMMENT,
                                        .comment = {(const uint8_t *) COMMENT, sizeof COMMENT - 1}};
    sink->begun = true;
    if (first != NULL && first->tag == HATF_COMMENT && first->comment.length >= length &&
        memcmp(first->comment.data, COMMENT_START, length) == 0)
        return STEP_STATUS_OK;
    return hatf_encoder_put(sink->encoder, &comment, error);
}

static enum step_status hatf_sink_put(struct trace_sink *base, const struct hatf_record *record,
                                      struct step_error *error)
{
    struct hatf_sink *sink = (struct hatf_sink *) base;
    enum step_status status = sink->begun ? STEP_STATUS_OK : hatf_sink_begin(sink, record, error);
    return status == STEP_STATUS_OK ? hatf_encoder_put(sink->encoder, record, error) : status;
}

static enum step_status hatf_sink_close(struct trace_sink *base, struct step_error *error)
{
    struct hatf_sink *sink = (struct hatf_sink *) base;
    enum step_status status = sink->begun ? STEP_STATUS_OK : hatf_sink_begin(sink, NULL, error);
    if (status == STEP_STATUS_OK)
        status = hatf_encoder_flush(sink->encoder, error);
    return status == STEP_STATUS_OK ? hatf_writer_close(sink->writer, error) : status;
}

static void hatf_sink_reset(struct trace_sink *base)
{
    struct hatf_sink *sink = (struct hatf_sink *) base;
    hatf_encoder_destroy(sink->encoder);
    hatf_writer_destroy(sink->writer);
}

static enum step_status hatf_sink_open(struct trace_sink *base, const struct format_output *to,
                                       struct step_error *error)
{
    struct hatf_sink *sink = (struct hatf_sink *) base;
    const struct hatf_options *options = format_settings_get(to->settings, &hatf_options);
    enum hatf_split split = alloc_options_of(to->settings)->split;
    enum step_status status;
    if (to->format == &format_hatf_zip && split == HATF_SPLIT_NONE)
        split = HATF_SPLIT_ADDRESS;
    if (split != HATF_SPLIT_NONE) {
        const char *path = output_file_seekable_path(to->file, error);
        int level = format_settings_level(to->settings);
        status = path != NULL ? hatf_writer_open(path, split, level, &sink->writer, error)
                              : STEP_STATUS_IO;
    } else {
        struct step_output output;
        status = trace_sink_pack(base, to, &output, error);
        if (status == STEP_STATUS_OK)
            status = hatf_writer_create(&output, &sink->writer, error);
    }
    if (status != STEP_STATUS_OK)
        return status;
    return options->packed_by != HATF_NOT_PACKED
               ? hatf_encoder_create_for(sink->writer, options->encoding,
                                         options->packed_by == HATF_PACKED_BY_GZIP
                                             ? STEP_COMPRESSION_ZLIB
                                             : STEP_COMPRESSION_ZSTD,
                                         &sink->encoder, error)
               : hatf_encoder_create(sink->writer, options->encoding, &sink->encoder, error);
}

const struct trace_sink_operations hatf_sink_operations = {
    .size_bytes = sizeof(struct hatf_sink),
    .open = hatf_sink_open,
    .put_alloc = hatf_sink_put,
    .close = hatf_sink_close,
    .reset = hatf_sink_reset,
};
