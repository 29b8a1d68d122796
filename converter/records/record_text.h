/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of any definition as lines of text:
 *
 *   zoo.Feeding time=100 by=#7{name="Ann" class=3} at={x=-3 y=9} food="hay" amounts=[5 6]
 * seal=x'00ff'
 *
 * An identifier is `#` and its number, followed by the entry of the dictionary; in there
 * identifiers are only numbers.  An address is in hexadecimal.
 */
#ifndef CONVERTER_RECORDS_RECORD_TEXT_H
#define CONVERTER_RECORDS_RECORD_TEXT_H

#include <stdio.h>

#include "steptrace/reader.h"

struct record_text;

/* NULL when out of memory.  The reader is borrowed. */
struct record_text *record_text_create(const struct step_reader *reader);
void record_text_destroy(struct record_text *text);

void record_text_put(const struct record_text *text, uint32_t record, const uint64_t *slots,
                     FILE *out);
/* "#7" after the name: an entry of a dictionary. */
void record_text_put_entry(const struct record_text *text, uint32_t record, uint64_t id,
                           const uint64_t *slots, FILE *out);

#endif
