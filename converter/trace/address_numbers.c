/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises the comment, or consecutive numbers. */
#include "converter/trace/address_numbers.h"

#include <string.h>

#define COMMENT "HATF 1.0, written by steptrace; " ADDRESS_NUMBERS_TEXT

static bool says_so(const struct step_bytes *comment)
{
    const size_t length = sizeof ADDRESS_NUMBERS_TEXT - 1;
    return comment->length >= length &&
           memcmp(comment->data + comment->length - length, ADDRESS_NUMBERS_TEXT, length) == 0;
}

bool address_numbers_put(struct address_numbers *numbers, const struct hatf_record *record)
{
    if (record->tag == HATF_COMMENT && numbers->count == 0 && says_so(&record->comment))
        numbers->is_said = true;
    if (record->tag != HATF_ALLOC)
        return address_numbers_hold(numbers);
    if (numbers->count++ > 0 && record->address - numbers->last != 1)
        numbers->is_denied = true;
    numbers->last = record->address;
    return address_numbers_hold(numbers);
}

struct hatf_record address_numbers_comment(void)
{
    return (struct hatf_record){.tag = HATF_COMMENT,
                                .comment = {(const uint8_t *) COMMENT, sizeof COMMENT - 1}};
}
