/* SPDX-License-Identifier: Apache-2.0 */
/* The Meta-TF format: traces with the DTD of Java or of HATF. */
#ifndef CONVERTER_FORMATS_METATF_METATF_FORMAT_H
#define CONVERTER_FORMATS_METATF_METATF_FORMAT_H

#include "converter/trace/alloc_source.h"
#include "converter/trace/events_as_allocs.h"
#include "converter/trace/trace_format.h"

enum step_status metatf_source_create(const char *path, const struct event_selection *selected,
                                      struct opened_trace *out, struct step_error *error);
/* Opens a trace with a DTD of HATF.  `dtd_path` NULL: the DTD that the file names or contains. */
enum step_status metatf_alloc_source_create(const char *path, const char *dtd_path,
                                            struct alloc_source **out, struct step_error *error);

/* Names of HATF's records in its DTD, by tag. */
extern const char *const metatf_heap_records[HATF_METADATA];

/* Layout of a file. */
struct metatf_look {
    enum { METATF_BY_SEGMENTS, METATF_BY_INDEX, METATF_BY_RECORDS } layout;
    enum { METATF_OWN_BITS, METATF_32_BITS, METATF_64_BITS } bits; /* class 1, or 2 */
    bool is_unpacked;                                              /* sections are not compressed */
    enum { METATF_OWN_ORDER, METATF_LITTLE_ENDIAN, METATF_BIG_ENDIAN } order;
};
extern const struct format_options metatf_options;

/* All options of a writer that the user can set. */
struct metatf_writer_options;
void metatf_layout_options(struct metatf_writer_options *how,
                           const struct format_settings *settings);

#endif
