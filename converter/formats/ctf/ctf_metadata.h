/* SPDX-License-Identifier: Apache-2.0 */
/* The file `metadata` of a CTF trace, in TSDL (docs/formats/ctf.md). */
#ifndef CONVERTER_FORMATS_CTF_CTF_METADATA_H
#define CONVERTER_FORMATS_CTF_CTF_METADATA_H

#include <stdio.h>

#include "converter/formats/ctf/ctf_types.h"
#include "steptrace/reader.h"

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
