/* SPDX-License-Identifier: Apache-2.0 */
/* heaptrack's format (docs/formats/heaptrack.md): a line an allocation, a line a free. */
#ifndef CONVERTER_FORMATS_HEAPTRACK_HEAPTRACK_FORMAT_H
#define CONVERTER_FORMATS_HEAPTRACK_HEAPTRACK_FORMAT_H

#include "converter/events/event_sink.h"

/* Packed as the output's name ends, .gz or .zst, */
enum step_status heaptrack_sink_create(struct output_file *output,
                                       const struct event_source *source,
                                       const struct event_sink_options *options,
                                       struct event_sink **out, struct step_error *error);
/* or always. */
enum step_status heaptrack_gzip_sink_create(struct output_file *output,
                                            const struct event_source *source,
                                            const struct event_sink_options *options,
                                            struct event_sink **out, struct step_error *error);
enum step_status heaptrack_zstd_sink_create(struct output_file *output,
                                            const struct event_source *source,
                                            const struct event_sink_options *options,
                                            struct event_sink **out, struct step_error *error);

#endif
