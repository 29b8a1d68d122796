/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Are the addresses of a heap trace numbers of objects, as `convert --addresses=id` gives them?
 * Then each stands for an object of its own whatever its size, and overlaps mean nothing.  A
 * comment at the trace's start says so; without it, addresses are taken for numbers as long as each
 * allocation's is that of the one before it plus 1.
 */
#ifndef CONVERTER_TRACE_ADDRESS_NUMBERS_H
#define CONVERTER_TRACE_ADDRESS_NUMBERS_H

#include <stdbool.h>

#include "steptrace/hatf.h"

/* What the comment ends with. */
#define ADDRESS_NUMBERS_TEXT "addresses are numbers of objects"

/* Zeros: nothing is known yet. */
struct address_numbers {
    bool is_said;   /* by the comment */
    bool is_denied; /* an address was none */
    uint64_t count, last;
};

/* So far the addresses are numbers. */
static inline bool address_numbers_hold(const struct address_numbers *numbers)
{
    return numbers->is_said || !numbers->is_denied;
}

/* Takes each comment and each allocation; true: they still are. */
bool address_numbers_put(struct address_numbers *numbers, const struct hatf_record *record);
/* The comment that says so. */
struct hatf_record address_numbers_comment(void);

#endif
