/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that a traced JVM and its writer process share besides the ring: one call of the drain
 * thread at a time, and its answer. Either process may end at any moment, so there is no lock in
 * it. */
#ifndef CAPTURE_WRITER_CALLS_H
#define CAPTURE_WRITER_CALLS_H

#include <limits.h>
#include <stdint.h>

#include "capture/futex.h"
#include "capture/trace_file.h"
#include "steptrace/live.h"

/* Descriptors and arguments of the writer process. */
enum {
    WRITER_RING_DESCRIPTOR = 3,
    WRITER_CALLS_DESCRIPTOR,
    WRITER_LIBRARY_DESCRIPTOR, /* of what it was started from */
    WRITER_DESCRIPTORS = WRITER_LIBRARY_DESCRIPTOR + 1 - WRITER_RING_DESCRIPTOR
};
enum writer_argument { WRITER_ARGUMENT_LAYOUT = 1, WRITER_ARGUMENT_PROGRAM, WRITER_ARGUMENT_COUNT };

/* How often the ring is copied to the live file: the most that is lost if both processes are killed
 * at the same time. */
#define WRITER_COPY_NS UINT64_C(100000000)

enum writer_operation {
    WRITER_BEGIN = 1, /* no operation: is it running? */
    WRITER_OPEN,      /* creates both files; `path` */
    WRITER_RESERVE,   /* reserves disk blocks for `length` bytes */
    WRITER_WRITE,     /* writes the first `length` bytes of the data */
    WRITER_END,       /* closes the trace, removes the live file */
    WRITER_DISCARD    /* the same, and removes the trace */
};

#define WRITER_CALLS_BYTES UINT64_C(16384)
#define WRITER_DATA_BYTES (UINT64_C(1) << 20) /* after these bytes */

struct writer_calls {
    _Atomic uint32_t asked; /* number of the last call */
    _Atomic uint32_t answered;
    struct futex_gate asking, answering;
    _Atomic uint32_t left; /* no more answers are waited for: the live file gets the rest */
    uint32_t operation;
    uint64_t length;
    uint32_t ending; /* the data is the trace's end */
    uint32_t uses_counter;
    /* the answer */
    uint32_t status; /* enum step_status */
    uint32_t full;   /* the disk is full */
    int32_t code;    /* an errno */
    char message[1024];
    struct trace_file_rules rules;
    struct file_identity identity; /* of the trace */
    char path[PATH_MAX];           /* of the trace: as wanted, then as created */
};
_Static_assert(sizeof(struct writer_calls) <= WRITER_CALLS_BYTES, "it has its pages");

#define WRITER_LAYOUT (UINT64_C(1) << 32 | sizeof(struct writer_calls))

#endif
