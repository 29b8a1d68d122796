/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder of native programs: its state, and the rules for its threads.
 *
 * The interposed functions call the allocator's functions and report events to malloc_probes.h.
 * The recorder's own work (starting, taking a new chunk of the live file) is done in MODE_OWN with
 * all signals blocked: its memory then comes from own_heap.h, and none of it is recorded.
 *
 * A separate process (drain/) writes the trace and shares the live file with this one
 * (drain/drain_control.h).  In the traced program the recorder has no thread, no descriptor, and
 * writes no file.
 */
#ifndef MALLOC_RECORDER_RECORDER_H
#define MALLOC_RECORDER_RECORDER_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/base/agent_options.h"
#include "capture/clock.h"
#include "capture/live_map.h"
#include "malloc-recorder/drain/drain_control.h"

/* Mode of the calling thread. */
enum recorder_mode {
    MODE_PROGRAM, /* the program's own code */
    MODE_BUSY,    /* in the allocator or in a probe: further calls come from these */
    MODE_OWN      /* in the recorder, signals blocked */
};

enum recorder_state {
    STATE_UNRESOLVED, /* the real functions are unknown; or this is a fork that was not announced */
    STATE_PENDING,    /* the recording starts with the next event */
    STATE_STARTING,
    STATE_ON,
    STATE_OFF
};

struct recording;

/* State of a thread; reused for a new thread after its end. */
struct recorder_thread {
    _Atomic int in_probe;
    uint64_t recording; /* number of the recording that `stream` belongs to */
    struct live_stream *stream;
    uint64_t id;
    uintptr_t stack_end; /* set if call stacks are recorded */
    struct recorder_thread *next_all, *next_idle;
};

struct recorder_local {
    enum recorder_mode mode;
    bool ended;    /* the thread's end was recorded: later events are libc's */
    uint64_t call; /* the outer function that makes the next allocation; 0: the program */
    size_t size;   /* then: the size that it was asked for */
    struct recorder_thread *thread;
    uint64_t wanted_id; /* set by pthread_create() for the new thread */
    unsigned end_rounds;
    uint64_t fork_stamp; /* time of the fork, during it and in the child; 0: unknown */
};

extern _Thread_local struct recorder_local recorder_local
    __attribute__((tls_model("initial-exec")));

/* State that each probe checks.  It is in a page that the kernel clears in any forked child, so
 * nothing is recorded there until recorder_prepare() has run. */
union recorder_hot {
    struct {
        _Atomic int state; /* enum recorder_state */
        _Atomic(struct recording *) recording;
    };
    char page[4096];
} __attribute__((aligned(4096)));

extern union recorder_hot recorder_hot;

struct recorder {
    _Atomic uint64_t recording_count;
    _Atomic uint64_t missed_early; /* calls that could not be recorded before the recording
                                      started */
    struct clock_moment start;
    pthread_mutex_t control_lock;
    pthread_key_t exit_key;
    bool exit_key_made;
    bool is_resolved;       /* the real functions are known */
    bool is_wiped_in_forks; /* the kernel clears the page above */
    bool is_fork;           /* a fork of a recorded process */
    uint64_t parent_id;     /* process id of the parent */
    uint64_t fork_stamp;    /* in ticks of the parent; 0: unknown */
    const char *sanitizer;  /* in the program, which is then not recorded; or NULL */
    struct recording *last; /* the current recording; also visible in a forked child */
};

extern struct recorder recorder;

/* Bytes of this process that no file has: mapped, and in memory. */
struct private_memory {
    uint64_t mapped, used;
};

struct recording {
    struct live_map map;
    struct private_memory memory_at_start;
    uint64_t number;
    uint64_t process_id;
    struct options options;
    struct drain_control *control;
    char *base; /* start of the shared addresses */
    uint64_t range_bytes;
    uint64_t piece_at, piece_end;    /* memory for refs and streams */
    _Atomic uint32_t beat, silences; /* of the drain, at the last check */
    _Atomic uint64_t thread_count;
    struct live_stream *global; /* defines frames */
};

/* ---- recorder.c ---- */

/* Stops recording because the drain takes no more chunks. */
void recorder_give_up(struct recording *recording);

/* Enclose the recorder's own code. */
struct own_mode {
    enum recorder_mode mode;
    int saved_errno;
    sigset_t signals;
};
void own_mode_enter(struct own_mode *own);
void own_mode_leave(const struct own_mode *own);

/* Returns ticks since the start.  If the clock is not a hardware counter, stamps are made unique,
 * to keep the order of a free and the allocation that reuses its address. */
uint64_t recorder_stamp(void);

/* ---- native_recording.c ---- */

/* Finds the real functions, and starts the recording if it is due.  Any thread, any time. */
void recorder_prepare(void);
/* Reports, once the libraries are initialised, that a sanitizer keeps this process from being
 * recorded. */
void recorder_report_sanitizer(void);
/* Ends the recording of this process, if there is one, and waits until the trace is complete. */
void recorder_stop(const char *end);

/* Reports a library whose allocator calls bypass the recorder. */
void recorder_look_at_libraries(void);

/* ---- process.c: what else of the program's life is followed ---- */
void process_follow(void);
void process_find_real(void);
/* Call in a forked child, which has no recording yet. */
void process_forget_parent(void);

#endif
