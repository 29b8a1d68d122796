/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State shared by a recorded program and its drain, the separate process steptrace-drain: the live
 * file, mapped by both at the same address.
 *
 *   page 0     the live file's header (steptrace/live.h)
 *   page 1     struct drain_control
 *   then       pieces: chunks, and memory for the chunks' refs and the streams
 *
 * The drain creates the file and extends it ahead of the program, which only stores to it.  Either
 * process may end at any moment.
 */
#ifndef MALLOC_RECORDER_DRAIN_DRAIN_CONTROL_H
#define MALLOC_RECORDER_DRAIN_DRAIN_CONTROL_H

#include <stddef.h>

#include "capture/live_map.h"

#define DRAIN_FIRST_BYTES (2 * UINT64_C(4096))
#define DRAIN_END_TEXT 16

struct drain_control {
    uint64_t layout; /* DRAIN_LAYOUT of the program */
    struct live_shared shared;
    uint64_t range_bytes;         /* bytes of reserved addresses, the same in both processes */
    _Atomic uint64_t ready_bytes; /* size of the file so far */
    _Atomic uint32_t beat;        /* changes while the drain lives */
    _Atomic uint32_t end_wanted;  /* set by the program; `end` has the reason */
    _Atomic uint32_t is_closed;   /* the trace is complete */
    struct futex_gate closed;     /* opens when is_closed is set */
    _Atomic uint64_t missed;      /* calls that could not be recorded */
    uint64_t grown_bytes;         /* of private memory, from the recording's begin to its end */
    char end[DRAIN_END_TEXT];
    char bypassed[512]; /* the first library whose allocator calls bypass the recorder */
    _Atomic uint32_t message_bytes; /* length of a message for the program's stderr */
    char message[1024];
};
_Static_assert(sizeof(struct drain_control) <= 4096, "the control is one page");

/* Programs and drains of different builds do not work together. */
#define DRAIN_LAYOUT                                                                               \
    (UINT64_C(4) << 32 | sizeof(struct drain_control) << 16 | sizeof(struct live_stream) << 8 |    \
     sizeof(struct live_chunk_ref))

/* Arguments with which the program starts the drain. */
enum drain_argument {
    DRAIN_ARGUMENT_LAYOUT = 1,
    DRAIN_ARGUMENT_PROGRAM, /* "program=PID"; also shows in process lists which program the drain
                               serves */
    DRAIN_ARGUMENT_FILE,
    DRAIN_ARGUMENT_OPTIONS, /* the recorder's options, unchanged */
    DRAIN_ARGUMENT_NUMBERS, /* struct drain_numbers, in hexadecimal, separated by commas */
    DRAIN_ARGUMENT_COUNT
};

#define DRAIN_NUMBERS(X)                                                                           \
    X(address)                                                                                     \
    X(range_bytes)                                                                                 \
    X(buffer_bytes)                                                                                \
    X(limit_bytes)                                                                                 \
    X(stack)                                                                                       \
    X(level)                                                                                       \
    X(overwrite) /* of struct trace_file_rules */                                                  \
    X(mode)                                                                                        \
    X(uses_counter)                                                                                \
    X(start_raw)                                                                                   \
    X(start_monotonic_ns)                                                                          \
    X(start_wall_ns)                                                                               \
    X(parent)         /* 0: the process was not forked by a recorded one */                        \
    X(parent_process) /* process that forked it; 0: outside of its PID namespace */                \
    X(fork_stamp)     /* in raw ticks of the parent; 0: unknown */

struct drain_numbers {
#define X(name) uint64_t name;
    DRAIN_NUMBERS(X)
#undef X
};

/* The drain's reply on descriptor 3: "" after a failure (reported on stderr), a line with the live
 * file's path when the program may map it, or DRAIN_ADDRESS_TAKEN. */
#define DRAIN_REPLY_DESCRIPTOR 3
#define DRAIN_ADDRESS_TAKEN "!"

#endif
