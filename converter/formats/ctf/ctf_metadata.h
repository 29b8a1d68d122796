/* SPDX-License-Identifier: Apache-2.0 */
/* The file `metadata` of a CTF trace, in TSDL (docs/formats/ctf.md). */
#ifndef CONVERTER_FORMATS_CTF_CTF_METADATA_H
#define CONVERTER_FORMATS_CTF_CTF_METADATA_H

#include <stdio.h>

#include "converter/formats/ctf/ctf_types.h"
#include "steptrace/reader.h"

/* What the file begins with, by which it is known again. */
#define CTF_METADATA_HEAD "/* CTF 1.8 */\n/* made by StepTrace: docs/formats/ctf.md */\n"

/* Stream classes. */
enum ctf_stream_class { CTF_STREAM_OF_RECORDS, CTF_STREAM_OF_DICTIONARIES, CTF_STREAM_CLASSES };

/* How the trace's ticks become cycles of the clock. */
struct ctf_clock {
    bool is_there;          /* some record has a time */
    bool is_absolute;       /* the trace says when its time 0 was */
    uint64_t frequency;     /* cycles in a second */
    uint64_t cycles_a_tick; /* 1, but where a tick is no whole part of a second */
    uint64_t offset_s, offset_cycles;
    uint64_t most; /* the latest time in cycles that readers take: they count in nanoseconds */
};
void ctf_clock_init(struct ctf_clock *clock, const struct step_reader *reader);

/* False: out of memory.  Errors of `out` are its own. */
bool ctf_metadata_put(FILE *out, const struct ctf_types *types, const struct step_reader *reader,
                      const struct ctf_clock *clock);

#endif
