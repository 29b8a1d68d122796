/* SPDX-License-Identifier: Apache-2.0 */
/* Options of output formats that store allocations. */
#ifndef CONVERTER_TRACE_ALLOC_OPTIONS_H
#define CONVERTER_TRACE_ALLOC_OPTIONS_H

#include "converter/trace/trace_format.h"
#include "steptrace/hatf.h"

enum alloc_addresses { ADDRESSES_ID, ADDRESSES_BUMP, ADDRESSES_MALLOC };

struct alloc_options {
    enum alloc_addresses addresses; /* how addresses of objects are chosen */
    bool class_attributes;          /* store the class of each object as its attributes */
    enum hatf_split split;
    unsigned omitted; /* bitmap of omitted fields, 1 << enum hatf_field */
};

/* alloc_event_options sets the first two members, for formats that need allocations; the others
 * set one member each. */
extern const struct format_options alloc_event_options;
extern const struct format_options alloc_split_options;
extern const struct format_options alloc_omit_options;

const struct alloc_options *alloc_options_of(const struct format_settings *settings);

#endif
