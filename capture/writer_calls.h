/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a traced JVM and the process that writes its files share beside the ring: one call at a time
 * of the drain thread, and its answer.  Either may end at any moment: there is no lock in it.
 */
#ifndef CAPTURE_WRITER_CALLS_H
#define CAPTURE_WRITER_CALLS_H

#include <limits.h>
#include <stdint.h>

#include "capture/futex.h"
#include "capture/trace_file.h"
#include "steptrace/live.h"

/* The descriptors of the writer process, and its arguments. */
enum { WRITER_RING_DESCRIPTOR = 3, WRITER_CALLS_DESCRIPTOR = 4 };
enum writer_argument { WRITER_ARGUMENT_LAYOUT = 1, WRITER_ARGUMENT_PROGRAM, WRITER_ARGUMENT_COUNT };

/* How often the live file is made what the ring is: what is lost at most if both processes are
 * killed at once. */
#define WRITER_COPY_NS UINT64_C(100000000)

enum writer_operation {
    WRITER_BEGIN = 1, /* is it there? */
    WRITER_OPEN,      /* `path`: both files */
    WRITER_RESERVE,   /* disk blocks for `length` bytes */
    WRITER_WRITE,     /* the first `length` bytes of the data */
    WRITER_END        /* both are whole: the live file goes */
};

#define WRITER_CALLS_BYTES UINT64_C(16384)
#define WRITER_DATA_BYTES (UINT64_C(1) << 20) /* they follow */

struct writer_calls {
    _Atomic uint32_t asked; /* the number of the last call */
    _Atomic uint32_t answered;
    struct futex_gate asking, answering;
    _Atomic uint32_t left; /* nobody waits for an answer any more: the live file gets the rest */
    uint32_t operation;
    uint64_t length;
    uint32_t ending; /* what is written is the trace's end */
    uint32_t uses_counter;
    /* the answer */
    uint32_t status; /* enum step_status */
    uint32_t full;   /* the disk is */
    int32_t code;    /* an errno */
    char message[1024];
    struct trace_file_rules rules;
    char path[PATH_MAX]; /* of the trace: as wanted, and as it is */
};
_Static_assert(sizeof(struct writer_calls) <= WRITER_CALLS_BYTES, "it has its pages");

#define WRITER_LAYOUT (UINT64_C(1) << 32 | sizeof(struct writer_calls))

#endif
