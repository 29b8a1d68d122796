/* SPDX-License-Identifier: Apache-2.0 */
/* Formats values of records as JSON, and records as rows of CSV. */
#ifndef CONVERTER_RECORDS_RECORD_VALUES_H
#define CONVERTER_RECORDS_RECORD_VALUES_H

#include <stdio.h>

#include "format/json/json_output.h"
#include "steptrace/reader.h"

/* Returns true if the definition says that the field, or what its array holds, is an address. */
bool record_field_is_address(const struct step_field *field);

struct record_values {
    const struct step_reader *reader;
    const struct step_definition *definition;
    struct json_output json; /* compact, always at the top level */
    FILE *file;              /* the output */
};

void record_values_init(struct record_values *values, const struct step_reader *reader, FILE *file);

/* Prints {"$record":"zoo.Feeding","time":100,"by":{"$id":7,"name":"Ann"},...} and a newline.
 * Binary data are hexadecimal; ids within an entry are numbers; a variant has its "$record"; a
 * missing value is null. */
void record_values_put_line(struct record_values *values, const struct step_record_view *view);
/* Prints one value: of the field, or at level `depth` of its nested arrays. */
void record_values_put(struct record_values *values, const struct step_field *field, uint32_t depth,
                       const uint64_t *slots, bool entries);

struct record_table;

/* Creates a table with a column `record` and one for each field of the wanted records; nested
 * records have columns like "at.x".  Returns NULL if out of memory. */
struct record_table *record_table_create(struct record_values *values, const uint8_t *wanted);
void record_table_destroy(struct record_table *table);
void record_table_put_head(struct record_table *table);
/* Returns false if out of memory. */
bool record_table_put(struct record_table *table, const struct step_record_view *view);

#endif
