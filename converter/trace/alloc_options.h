/* SPDX-License-Identifier: Apache-2.0 */
/* Options of formats that hold allocations. */
#ifndef CONVERTER_TRACE_ALLOC_OPTIONS_H
#define CONVERTER_TRACE_ALLOC_OPTIONS_H

#include "converter/trace/trace_format.h"
#include "steptrace/hatf.h"

enum alloc_addresses { ADDRESSES_ID, ADDRESSES_BUMP, ADDRESSES_MALLOC };

struct alloc_options {
    enum alloc_addresses addresses; /* of objects */
    bool class_attributes;          /* the class of an object is kept */
    enum hatf_split split;
    unsigned omitted; /* bits of fields that are left out, 1 << enum hatf_field */
};

/* The first two, for formats that need allocations; then one each. */
extern const struct format_options alloc_event_options;
extern const struct format_options alloc_split_options;
extern const struct format_options alloc_omit_options;

const struct alloc_options *alloc_options_of(const struct format_settings *settings);

#endif
