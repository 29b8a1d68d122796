/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the records of a STEP trace of any definition as text, using its embedded definition. */
#ifndef CONVERTER_RECORDS_RECORD_DUMP_H
#define CONVERTER_RECORDS_RECORD_DUMP_H

#include <stdio.h>

#include "converter/files/standard_input.h"
#include "converter/records/record_filter.h"
#include "steptrace/reader.h"

/*
 * Formats records of any definition as lines of text:
 *
 *   zoo.Feeding time=100 by=#7{name="Ann" class=3} at={x=-3 y=9} amounts=[5 6] seal=x'00ff'
 *
 * An id is `#` and its number, followed by the dictionary entry, in which other ids are plain
 * numbers.  Addresses are hexadecimal.
 */

struct record_text;

/* Returns NULL if out of memory.  The reader is borrowed. */
struct record_text *record_text_create(const struct step_reader *reader);
void record_text_destroy(struct record_text *text);

void record_text_put(const struct record_text *text, uint32_t record, const uint64_t *slots,
                     FILE *out);

struct record_dump {
    struct record_selection selected;
    bool all;     /* print all records */
    bool entries; /* print dictionary entries instead of records */
};

static inline bool record_dump_is_wanted(const struct record_dump *dump)
{
    return dump->selected.names != NULL || dump->selected.maps ||
           dump->selected.condition_count > 0 || dump->all || dump->entries;
}

/* Opens a STEP trace of any definition, or standard input ("-").  The caller closes `seekable`.
 * Returns CORRUPT also for files that are not STEP traces.  `needs_all`: of a sampled trace's
 * objects (sampled_trace.h). */
enum step_status stepfile_open(const char *path, const char *needs_all, struct step_reader **reader,
                               struct seekable_path *seekable, struct step_error *error);
/* Closes both.  Reports `error` if `status` is not OK, or else the trace's damage.  Returns the
 * status of what it reported. */
enum step_status stepfile_close(struct step_reader *reader, struct seekable_path *seekable,
                                const char *path, enum step_status status,
                                const struct step_error *error);

/* Prints the STEP trace `path` to standard output.  Reports errors. */
enum step_status record_dump(const char *path, const struct record_dump *dump);
/* Prints the embedded definition. */
enum step_status record_dump_definition(const char *path);

#endif
