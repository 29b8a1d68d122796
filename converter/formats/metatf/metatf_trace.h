/* SPDX-License-Identifier: Apache-2.0 */
/* A Meta-TF file with its DTD, which the user gives, the file contains, or a file beside it has. */
#ifndef CONVERTER_FORMATS_METATF_METATF_TRACE_H
#define CONVERTER_FORMATS_METATF_METATF_TRACE_H

#include "converter/files/standard_input.h"
#include "steptrace/metatf.h"

#define METATF_JAVA_DTD "java.dtd"
#define METATF_HATF_DTD "hatf.dtd"
#define METATF_HATF_SPLIT_DTD "hatf-split.dtd"

struct metatf_trace {
    const char *path;
    int descriptor;
    uint64_t file_bytes;
    struct metatf_file *file;
    struct metatf_dtd *dtd;
    struct metatf_reader *reader;
};

/* `dtd_path` NULL: not given by the user.  Reset is allowed after a failure. */
enum step_status metatf_trace_open(struct metatf_trace *trace, const char *path,
                                   const char *dtd_path, struct step_error *error);
void metatf_trace_reset(struct metatf_trace *trace);

/* Returns the share of the file that was read, 0 to 1. */
double metatf_trace_progress(const struct metatf_trace *trace);

/* State of reading a Meta-TF trace record by record. */
struct metatf_records_reading {
    struct seekable_path seekable;
    struct metatf_trace trace;
    struct step_error error; /* of the reader */
};

/* `path` may be "-".  Reports errors.  Close is allowed after a failure. */
enum step_status metatf_reading_open(struct metatf_records_reading *reading, const char *path,
                                     const char *dtd_path);
enum step_status metatf_reading_next(struct metatf_records_reading *reading,
                                     struct metatf_event *event);
/* Reports the reader's error, and returns the final status of the verb. */
enum step_status metatf_reading_report(struct metatf_records_reading *reading,
                                       enum step_status status);
void metatf_reading_close(struct metatf_records_reading *reading);

/*
 * Records of any DTD as a line of text, a JSON object, or a row of a table.  Fields have the paths
 * of the DTD's model.
 *
 *   heap.alloc size=32 address=4096 vfield.length=5 vfield.data="hello"
 *   mixed.repeated n=2 [small=1 wide=2] [small=3 wide=4] block=x'00ff'
 */

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
