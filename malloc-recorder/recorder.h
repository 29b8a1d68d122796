/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder of native programs: its state, and who may do what.
 *
 * The functions in interpose.c stand in front of the allocator's.  Each calls the real one and
 * tells malloc_probes.h of it.  What the recorder does itself (starting, taking a new chunk of the
 * live file) it does in MODE_OWN with all signals blocked: its memory then comes from own_heap.h,
 * and nothing of it is recorded.
 *
 * The trace is written by a process of its own (drain/), which shares the live file with this one
 * (drain/drain_control.h).  Here there is no thread of the recorder's, no descriptor, no write.
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

/* What the calling thread is at. */
enum recorder_mode {
    MODE_PROGRAM, /* the program's own code */
    MODE_BUSY,    /* in the allocator or in a probe: what is called now was called by those */
    MODE_OWN      /* in the recorder, signals blocked */
};

enum recorder_state {
    STATE_UNRESOLVED, /* the real functions are not known yet; or this is a fork that nobody told of
                       */
    STATE_PENDING,    /* the recording starts with the next event */
    STATE_STARTING,
    STATE_ON,
    STATE_OFF
};

struct recording;

/* What the recorder keeps for a thread; handed on to a new one when it has ended. */
struct recorder_thread {
    _Atomic int in_probe;
    uint64_t recording; /* the number of that which `stream` belongs to */
    struct live_stream *stream;
    uint64_t id;
    uintptr_t stack_end; /* where call stacks are recorded */
    struct recorder_thread *next_all, *next_idle;
};

struct recorder_local {
    enum recorder_mode mode;
    bool ended;    /* the thread's end was recorded: what follows is libc's own */
    uint64_t call; /* what called the function that allocates next; 0: the program */
    size_t size;   /* then: what that was asked for */
    struct recorder_thread *thread;
    uint64_t wanted_id; /* set by pthread_create() for the thread that starts */
    unsigned end_rounds;
    uint64_t fork_stamp; /* while the thread forks, and in the child: when; 0: not known */
};

extern _Thread_local struct recorder_local recorder_local
    __attribute__((tls_model("initial-exec")));

/* What the probes look at.  It lies in a page that the kernel clears in a forked child, however it
 * was forked: nothing is recorded there until recorder_prepare() has seen to it. */
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
    _Atomic uint64_t missed_early; /* calls that could not be recorded before there was a recording
                                    */
    struct clock_moment start;
    pthread_mutex_t control_lock;
    pthread_key_t exit_key;
    bool exit_key_made;
    bool is_resolved;       /* the real functions are known */
    bool is_wiped_in_forks; /* the page above is */
    bool is_fork;           /* of a process that was recorded */
    uint64_t parent_id;     /* its process id */
    uint64_t fork_stamp;    /* when, in ticks of its own; 0: not known */
    struct recording *last; /* that which runs; also seen in a forked child */
};

extern struct recorder recorder;

struct recording {
    struct live_map map;
    uint64_t number;
    uint64_t process_id;
    struct options options;
    struct drain_control *control;
    char *base; /* of the shared addresses */
    uint64_t range_bytes;
    uint64_t piece_at, piece_end;    /* memory for refs and streams */
    _Atomic uint32_t beat, silences; /* of the drain, when it was looked at last */
    _Atomic uint64_t thread_count;
    struct live_stream *global; /* definitions of frames */
};

/* ---- recorder.c ---- */

/* The drain takes no more: nothing is recorded from now on. */
void recorder_give_up(struct recording *recording);

/* The recorder's own code runs between these two. */
struct own_mode {
    enum recorder_mode mode;
    int saved_errno;
    sigset_t signals;
};
void own_mode_enter(struct own_mode *own);
void own_mode_leave(const struct own_mode *own);

/* Ticks since the start.  Where the clock is no counter two stamps are never equal: the order of a
 * free and the allocation that takes its place must show. */
uint64_t recorder_stamp(void);

/* ---- recording.c ---- */

/* Finds the real functions; starts the recording if that is due.  Any thread, any time. */
void recorder_prepare(void);
/* Ends the recording, if there is one of this process, and waits until the trace is whole. */
void recorder_stop(const char *end);

/* Tells of a library that calls the allocator past the recorder. */
void recorder_look_at_libraries(void);

/* ---- process.c: what else of the program's life is followed ---- */
void process_follow(void);
void process_find_real(void);
/* In a forked child: it has no recording yet. */
void process_forget_parent(void);

#endif
