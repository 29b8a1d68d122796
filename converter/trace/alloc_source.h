/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where HATF's records come from: .hatf (plain, gzip, zstd), a split ZIP file, .hatf.txt, a STEP
 * trace of a native program (hatf.step), or a Java trace, whose objects become allocations.
 * Records come in the trace's order; comments too, metadata only where they are asked for.
 */
#ifndef CONVERTER_TRACE_ALLOC_SOURCE_H
#define CONVERTER_TRACE_ALLOC_SOURCE_H

#include <stdbool.h>

#include "converter/base/standard_input.h"
#include "converter/trace/event_source.h"
#include "steptrace/hatf.h"
#include "steptrace/reader.h"

struct alloc_source {
    const struct alloc_source_operations *operations;
    const char *path;      /* for messages; borrowed */
    uint64_t record_count; /* given so far */
    /* A number that the last record's attributes share only with the same bytes; 0: not known. */
    uint64_t attributes_number;
    bool may_grow; /* END is where the trace ends so far: later there may be more */
    bool has_damage;
    struct step_damage damage; /* why the input could not be read on */
    /* Called where the source is about to wait for a slow input, so that what was made of the
     * records until then can be handed on.  NULL: nobody cares. */
    void (*before_wait)(void *user);
    void *before_wait_user;
};

/* What the kinds of sources implement; the functions below are for the others. */
struct alloc_source_operations {
    enum step_status (*next)(struct alloc_source *source, struct hatf_record *record,
                             struct step_error *error);
    void (*summary)(const struct alloc_source *source, struct trace_summary *summary);
    /* Properties and damage, as in event_source.h; NULL: there are none. */
    size_t (*property_count)(const struct alloc_source *source);
    void (*property)(const struct alloc_source *source, size_t i, const char **key,
                     const char **value);
    size_t (*damage_count)(const struct alloc_source *source);
    const struct step_damage *(*damage)(const struct alloc_source *source, size_t i);
    double (*progress)(const struct alloc_source *source);
    /* Where the last record begins in the file; NULL where that is not known. */
    uint64_t (*offset)(const struct alloc_source *source);
    /* Its number there, which may count more than the source gives; NULL: it does not. */
    uint64_t (*number)(const struct alloc_source *source);
    void (*destroy)(struct alloc_source *source);
};

/* The next record; its bytes live until the next call.  END after the last, and where the input is
 * damaged or cut: then the damage is noted. */
enum step_status alloc_source_next(struct alloc_source *source, struct hatf_record *record,
                                   struct step_error *error);
void alloc_source_summary(const struct alloc_source *source, struct trace_summary *summary);
size_t alloc_source_property_count(const struct alloc_source *source);
void alloc_source_property(const struct alloc_source *source, size_t i, const char **key,
                           const char **value);
size_t alloc_source_damage_count(const struct alloc_source *source);
const struct step_damage *alloc_source_damage(const struct alloc_source *source, size_t i);
/* Offset of the last record in the file; STEP_NO_OFFSET where that is not known. */
uint64_t alloc_source_offset(const struct alloc_source *source);
/* Number of the last record, as errors count it: in .hatf with metadata. */
uint64_t alloc_source_number(const struct alloc_source *source);
double alloc_source_progress(const struct alloc_source *source);
void alloc_source_destroy(struct alloc_source *source);

#endif
