/* SPDX-License-Identifier: Apache-2.0 */
/* A STEP definition in terms of CTF's types, and the file `metadata` of a CTF trace, in TSDL
 * (docs/formats/ctf.md). */
#ifndef CONVERTER_FORMATS_CTF_CTF_METADATA_H
#define CONVERTER_FORMATS_CTF_CTF_METADATA_H

#include <stdbool.h>
#include <stdio.h>

#include "steptrace/definition.h"
#include "steptrace/reader.h"

/*
 * A STEP definition in terms of CTF's types.  CTF types cannot be recursive: a field that would
 * close a cycle of types is encoded as text (JSON).
 */
struct ctf_types {
    const struct step_definition *definition; /* borrowed */
    uint32_t *order;                          /* all records, contained records first */
    size_t order_count;
    uint8_t **as_text; /* by record and field: encoded as text */
    char **labels;     /* by record: its name as a unique identifier */
};

/* Returns false if memory runs out; call reset in any case. */
bool ctf_types_init(struct ctf_types *types, const struct step_definition *definition);
void ctf_types_reset(struct ctf_types *types);

/* Returns true if the field, or an element of its arrays, stores a record in place: neither a
 * record number nor a variant of several types. */
bool ctf_holds_record(const struct step_field *field);

/* First bytes of the file, by which CTF traces of StepTrace are recognised. */
#define CTF_METADATA_HEAD "/* CTF 1.8 */\n/* made by StepTrace: docs/formats/ctf.md */\n"

/* Stream classes. */
enum ctf_stream_class { CTF_STREAM_OF_RECORDS, CTF_STREAM_OF_DICTIONARIES, CTF_STREAM_CLASSES };

/* Conversion of the trace's ticks to cycles of the CTF clock. */
struct ctf_clock {
    bool is_there;          /* some record has a time */
    bool is_absolute;       /* the trace has the wall clock time of its time 0 */
    uint64_t frequency;     /* cycles per second */
    uint64_t cycles_a_tick; /* 1, unless a second is not a whole number of ticks */
    uint64_t offset_s, offset_cycles;
    uint64_t most; /* the latest time in cycles that readers support: they count in nanoseconds */
};
void ctf_clock_init(struct ctf_clock *clock, const struct step_reader *reader);

/* Returns false if memory runs out.  The caller checks `out` for write errors. */
bool ctf_metadata_put(FILE *out, const struct ctf_types *types, const struct step_reader *reader,
                      const struct ctf_clock *clock);

#endif
