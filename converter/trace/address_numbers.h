/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detects whether the addresses of a heap trace are object numbers, as written by `convert
 * --addresses=id`.  Each number is then a separate object whatever its size, and overlaps are
 * meaningless.  A comment at the start of the trace states it.  Without the comment, addresses are
 * assumed to be numbers as long as each allocation's address is the previous one plus 1.
 */
#ifndef CONVERTER_TRACE_ADDRESS_NUMBERS_H
#define CONVERTER_TRACE_ADDRESS_NUMBERS_H

#include <stdbool.h>

#include "steptrace/hatf.h"

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
