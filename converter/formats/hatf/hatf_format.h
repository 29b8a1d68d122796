/* SPDX-License-Identifier: Apache-2.0 */
/* HATF formats: binary with each compression, split, text, the paper's simple binary, and the text
 * of memory_replay.  hatf_options.c has the table of formats. */
#ifndef CONVERTER_FORMATS_HATF_HATF_FORMAT_H
#define CONVERTER_FORMATS_HATF_HATF_FORMAT_H

#include "converter/trace/alloc_source.h"
#include "converter/trace/events_as_allocs.h"
#include "converter/trace/trace_format.h"

struct hatf_options {
    enum hatf_encoding encoding;
    /* The compression that the encoding is optimised for. */
    enum hatf_packer { HATF_NOT_PACKED, HATF_PACKED_BY_GZIP, HATF_PACKED_BY_ZSTD } packed_by;
};

extern const struct format_options hatf_options;
/* An unsigned: 1 if fields are 4 bytes wide, not 8. */
extern const struct format_options simple_binary_options;

enum step_status hatf_source_create(const char *path, const struct event_selection *selected,
                                    struct opened_trace *out, struct step_error *error);
enum step_status hatf_stream_create(const struct standard_input *start,
                                    const struct event_selection *selected,
                                    struct opened_trace *out, struct step_error *error);
extern const struct trace_sink_operations hatf_sink_operations;
/* Writes lines of HATF or of memory_replay. */
extern const struct trace_sink_operations hatf_text_sink_operations;
extern const struct trace_sink_operations simple_binary_sink_operations;

#endif
