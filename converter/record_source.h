/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where HATF's records come from: .hatf (plain, gzip, zstd), a split ZIP file, .hatf.txt, a STEP
 * trace of a native program (hatf.step), or a Java trace, whose objects become allocations.
 * Records come in the trace's order; comments too, metadata never.
 */
#ifndef CONVERTER_RECORD_SOURCE_H
#define CONVERTER_RECORD_SOURCE_H

#include <stdbool.h>

#include "steptrace/hatf.h"
#include "trace_source.h"

struct record_source {
    const struct record_source_operations *operations;
    const char *path; /* for messages; borrowed */
};

struct record_source_operations {
    /* The next record; its bytes live until the next call.  END after the last.  An error tells the
     * record's number and offset and stays. */
    enum step_status (*next)(struct record_source *source, struct hatf_record *record,
                             struct step_error *error);
    void (*summary)(const struct record_source *source, struct trace_summary *summary);
    /* Properties and damage, as in trace_source.h; NULL: there are none. */
    size_t (*property_count)(const struct record_source *source);
    void (*property)(const struct record_source *source, size_t i, const char **key,
                     const char **value);
    size_t (*damage_count)(const struct record_source *source);
    const struct step_damage *(*damage)(const struct record_source *source, size_t i);
    double (*progress)(const struct record_source *source);
    /* Where the last record began in the file; STEP_NO_OFFSET where that is not known. */
    uint64_t (*offset)(const struct record_source *source);
    void (*destroy)(struct record_source *source);
};

/* How a Java trace becomes records (docs/formats/hatf.md). */
enum record_addresses { ADDRESSES_ID, ADDRESSES_BUMP, ADDRESSES_MALLOC };

struct record_options {
    enum record_addresses addresses;
    bool class_attributes;
};

/* Opens a file of any of these formats, by its ending and content; `path` outlives the source.
 * `options` NULL: the defaults. */
enum step_status record_source_open(const char *path, const struct record_options *options,
                                    struct record_source **out, struct step_error *error);

#endif
