/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recorded program and its drain, a process of its own (steptrace-drain), share: the live
 * file, mapped by both at the same address.
 *
 *   page 0     the live file's header (steptrace/live.h)
 *   page 1     struct drain_control
 *   then       pieces: chunks, and memory for the chunks' refs and the streams
 *
 * The drain makes the file, and lets it grow ahead of the program; the program only stores into it.
 * Either may be gone at any moment.
 */
#ifndef MALLOC_RECORDER_DRAIN_DRAIN_CONTROL_H
#define MALLOC_RECORDER_DRAIN_DRAIN_CONTROL_H

#include <stddef.h>

#include "capture/live_map.h"

#define DRAIN_FIRST_BYTES (2 * UINT64_C(4096))
#define DRAIN_END_TEXT 16

struct drain_control {
    uint64_t layout; /* DRAIN_LAYOUT */
    struct live_shared shared;
    uint64_t range_bytes;         /* of addresses, in both */
    _Atomic uint64_t ready_bytes; /* the file has them */
    _Atomic uint32_t beat;        /* moves while the drain lives */
    _Atomic uint32_t end_wanted;  /* by the program; `end` says why */
    _Atomic uint32_t is_closed;   /* the trace is whole */
    struct futex_gate closed;     /* opens with it */
    _Atomic uint64_t missed;      /* calls that could not be recorded */
    char end[DRAIN_END_TEXT];
    char bypassed[512]; /* the first library found that calls the allocator past the recorder */
    _Atomic uint32_t message_bytes; /* what the program is to say on its stderr */
    char message[1024];
};
_Static_assert(sizeof(struct drain_control) <= 4096, "the control is one page");

/* Programs and drains of different builds do not mix. */
#define DRAIN_LAYOUT                                                                               \
    (UINT64_C(4) << 32 | sizeof(struct drain_control) << 16 | sizeof(struct live_stream) << 8 |    \
     sizeof(struct live_chunk_ref))

/* What the program tells the drain when it starts it: one argument each. */
enum drain_argument {
    DRAIN_ARGUMENT_LAYOUT = 1,
    DRAIN_ARGUMENT_PROGRAM, /* "program=PID": also what shows whose drain this is */
    DRAIN_ARGUMENT_FILE,
    DRAIN_ARGUMENT_OPTIONS, /* as given */
    DRAIN_ARGUMENT_NUMBERS, /* struct drain_numbers, in hexadecimal with commas between */
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
    X(parent)         /* 0: the process is no fork of a recorded one */                            \
    X(parent_process) /* who started it; 0: somebody outside its namespace of processes */         \
    X(fork_stamp)     /* raw ticks of the parent's; 0: not known */

struct drain_numbers {
#define X(name) uint64_t name;
    DRAIN_NUMBERS(X)
#undef X
};

/* The drain's answer, on descriptor 3: "" where it failed (it has said so on stderr), a line with
 * the live file's path where the program may map it, or DRAIN_ADDRESS_TAKEN. */
#define DRAIN_REPLY_DESCRIPTOR 3
#define DRAIN_ADDRESS_TAKEN "!"

#endif
