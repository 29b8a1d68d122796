/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source of HATF records: .hatf (plain, gzip, zstd), a split ZIP file, .hatf.txt, a STEP trace of a
 * native program (hatf.step), or a Java trace, whose objects become allocations.  Records are
 * returned in the trace's order, including comments; metadata records only on request.
 */
#ifndef CONVERTER_TRACE_ALLOC_SOURCE_H
#define CONVERTER_TRACE_ALLOC_SOURCE_H

#include <stdbool.h>

#include "converter/files/standard_input.h"
#include "converter/trace/event_source.h"
#include "steptrace/hatf.h"
#include "steptrace/reader.h"

struct alloc_source {
    const struct alloc_source_operations *operations;
    const char *path;      /* for messages; borrowed */
    uint64_t record_count; /* number of records returned */
    uint64_t offset;       /* of the last record in the file; STEP_NO_OFFSET: unknown */
    uint64_t number;       /* of it, for error messages; in .hatf, metadata records count, too */
    /* Identifies the attributes of the last record: records with the same number have the same
     * attributes. 0: not known. */
    uint64_t attributes_number;
    uint64_t live_count; /* allocations less frees so far */
    bool may_grow;       /* END may be temporary: the trace is still being written */
    struct trace_about about;
    /* Called before the source waits for a slow input, so that the consumer can flush its
     * output.  NULL: not needed. */
    void (*before_wait)(void *user);
    void *before_wait_user;
};

/* Operations that each kind of source implements.  Other code calls the functions below. */
struct alloc_source_operations {
    /* Sets the offset, if it is known, and counts the records that it passes over. */
    enum step_status (*next)(struct alloc_source *source, struct hatf_record *record,
                             struct step_error *error);
    double (*progress)(struct alloc_source *source);
    void (*destroy)(struct alloc_source *source);
};

/* Returns the next record; its bytes are valid until the next call.  Returns END after the last
 * record, and where the input is damaged or truncated, after noting the damage. */
enum step_status alloc_source_next(struct alloc_source *source, struct hatf_record *record,
                                   struct step_error *error);
void alloc_source_destroy(struct alloc_source *source);

/*
 * Detects whether the addresses of a heap trace are object numbers, as written by `convert
 * --addresses=id`.  Each number is then a separate object whatever its size, and overlaps are
 * meaningless.  A comment at the start of the trace states it.  Without the comment, addresses are
 * assumed to be numbers as long as each allocation's address is the previous one plus 1.
 */

/* The end of that comment. */
#define ADDRESS_NUMBERS_TEXT "addresses are numbers of objects"

/* Zero-initialise at the start of a trace. */
struct address_numbers {
    bool is_said;   /* the comment is present */
    bool is_denied; /* an address was not the previous one plus 1 */
    uint64_t count, last;
};

/* Returns whether all addresses so far can be object numbers. */
static inline bool address_numbers_hold(const struct address_numbers *numbers)
{
    return numbers->is_said || !numbers->is_denied;
}

/* Processes the next record.  Returns address_numbers_hold(). */
bool address_numbers_put(struct address_numbers *numbers, const struct hatf_record *record);
/* Returns the comment that a writer puts at the start of the trace. */
struct hatf_record address_numbers_comment(void);

#endif
