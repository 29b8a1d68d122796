/* SPDX-License-Identifier: Apache-2.0 */
/* The records of a STEP trace of any definition as text, through the definition that it embeds. */
#ifndef CONVERTER_RECORD_DUMP_H
#define CONVERTER_RECORD_DUMP_H

#include "trace_wish.h"

struct record_dump {
    const char *names;             /* with commas between; NULL: all records */
    bool all;                      /* records are wanted whatever the trace has */
    bool maps;                     /* records that map to one that is named are shown as that */
    bool entries;                  /* the dictionaries' entries, not the records */
    const struct trace_wish *wish; /* times and thread */
};

static inline bool record_dump_is_wanted(const struct record_dump *dump)
{
    return dump->names != NULL || dump->all || dump->maps || dump->entries;
}

/* Prints to standard output.  `path` is a STEP trace.  Faults are told. */
enum step_status record_dump(const char *path, const struct record_dump *dump);
/* The definition, as it is embedded. */
enum step_status record_dump_definition(const char *path);

#endif
