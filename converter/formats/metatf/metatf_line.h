/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints records of Meta-TF traces of any DTD as a line of text, a JSON object, or a row of a
 * table.  Fields have the paths of the DTD's model.
 *
 *   heap.alloc size=32 address=4096 vfield.length=5 vfield.data="hello"
 *   mixed.repeated n=2 [small=1 wide=2] [small=3 wide=4] block=x'00ff'
 */
#ifndef CONVERTER_FORMATS_METATF_METATF_LINE_H
#define CONVERTER_FORMATS_METATF_METATF_LINE_H

#include <stdio.h>

#include "steptrace/metatf.h"

/* Prints "section.record", or "record" for a record of the DTD's top level in the global
 * section. */
void metatf_name_put(const struct metatf_section *section, const struct metatf_record *record,
                     FILE *out);
/* Prints a line.  Comments and metadata begin with `#` ("# set heap.alloc.size width 2"). */
void metatf_line_put(const struct metatf_event *event, FILE *out);
/* Prints {"section":"heap","record":"alloc","size":32,...}.  Repeated elements are a list of
 * objects under "elements of N". */
void metatf_json_put(const struct metatf_event *event, FILE *out);

/* Columns of a table of all records: section, record, and each field path of any data record. */
struct metatf_columns {
    const char **paths;
    size_t count;
    const struct metatf_value **starts; /* of a record's fields, while it is printed */
};
/* Returns false if memory runs out. */
bool metatf_columns_init(struct metatf_columns *columns, const struct metatf_dtd *dtd);
void metatf_columns_reset(struct metatf_columns *columns);
void metatf_columns_put_head(const struct metatf_columns *columns, FILE *out);
/* Prints a data record; repeated elements are printed as JSON. */
void metatf_columns_put(const struct metatf_columns *columns, const struct metatf_event *event,
                        FILE *out);

#endif
