/* SPDX-License-Identifier: Apache-2.0 */
/* The records of a STEP trace of any definition as text, through the definition that it embeds. */
#ifndef CONVERTER_RECORDS_RECORD_DUMP_H
#define CONVERTER_RECORDS_RECORD_DUMP_H

#include "converter/base/standard_input.h"
#include "converter/records/record_filter.h"

struct record_dump {
    struct record_selection selected;
    bool all;     /* records are wanted whatever the trace has */
    bool entries; /* the dictionaries' entries, not the records */
};

static inline bool record_dump_is_wanted(const struct record_dump *dump)
{
    return dump->selected.names != NULL || dump->selected.maps ||
           dump->selected.condition_count > 0 || dump->all || dump->entries;
}

/* Opens a STEP trace of any definition, or standard input ("-"); `seekable` is to be closed.
 * CORRUPT also for what is no STEP trace. */
enum step_status record_open(const char *path, struct step_reader **reader,
                             struct seekable_path *seekable, struct step_error *error);
/* Closes both.  Reports `error` where `status` is not OK, else the trace's damage, and returns the
 * status of what it reported. */
enum step_status record_close(struct step_reader *reader, struct seekable_path *seekable,
                              const char *path, enum step_status status,
                              const struct step_error *error);

/* Prints to standard output.  `path` is a STEP trace.  Faults are reported. */
enum step_status record_dump(const char *path, const struct record_dump *dump);
/* The definition, as it is embedded. */
enum step_status record_dump_definition(const char *path);

#endif
