/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formats records of any definition as lines of text:
 *
 *   zoo.Feeding time=100 by=#7{name="Ann" class=3} at={x=-3 y=9} amounts=[5 6] seal=x'00ff'
 *
 * An id is `#` and its number, followed by the dictionary entry, in which other ids are plain
 * numbers.  Addresses are hexadecimal.
 */
#ifndef CONVERTER_RECORDS_RECORD_TEXT_H
#define CONVERTER_RECORDS_RECORD_TEXT_H

#include <stdio.h>

#include "steptrace/reader.h"

struct record_text;

/* Returns NULL if out of memory.  The reader is borrowed. */
struct record_text *record_text_create(const struct step_reader *reader);
void record_text_destroy(struct record_text *text);

void record_text_put(const struct record_text *text, uint32_t record, const uint64_t *slots,
                     FILE *out);
/* Prints a dictionary entry, with its id "#7" after the name of its type. */
void record_text_put_entry(const struct record_text *text, uint32_t record, uint64_t id,
                           const uint64_t *slots, FILE *out);

#endif
