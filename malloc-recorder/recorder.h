/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder of native programs: its state, and who may do what.
 *
 * The functions in interpose.c stand in front of the allocator's.  Each calls the real one and
 * tells malloc_probes.h of it.  What the recorder does itself (starting, taking a new chunk of the
 * live file, draining) it does in MODE_OWN with all signals blocked: its memory then comes from
 * own_heap.h, and nothing of it is recorded.
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
#include "capture/trace_file.h"
#include "steptrace/writer.h"

/* What the calling thread is at. */
enum recorder_mode {
    MODE_PROGRAM, /* the program's own code */
    MODE_BUSY,    /* in the allocator or in a probe: what is called now was called by those */
    MODE_OWN      /* in the recorder, signals blocked */
};

enum recorder_state {
    STATE_UNRESOLVED, /* the real functions are not known yet */
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
    struct recorder_thread *next_all, *next_idle;
};

struct recorder_local {
    enum recorder_mode mode;
    bool ended; /* the thread's end was recorded: what follows is libc's own */
    struct recorder_thread *thread;
    uint64_t wanted_id; /* set by pthread_create() for the thread that starts */
    unsigned end_rounds;
};

extern _Thread_local struct recorder_local recorder_local
    __attribute__((tls_model("initial-exec")));

struct recorder {
    _Atomic int state; /* enum recorder_state */
    _Atomic(struct recording *) recording;
    _Atomic uint64_t recording_count;
    _Atomic uint64_t missed; /* calls that could not be recorded */
    struct clock_moment start;
    struct clock_scale scale;
    bool clock_ready, is_calibrated;
    pthread_mutex_t control_lock;
    pthread_key_t exit_key;
    bool exit_key_made;
    bool is_fork;       /* of a process that was recorded */
    uint64_t parent_id; /* its process id */
};

extern struct recorder recorder;

struct recording {
    uint64_t number;
    uint64_t process_id;
    struct options options;
    struct live_map *map;
    _Atomic uint64_t thread_count;
    /* the drain thread's */
    struct trace_file *file;
    uint64_t file_device, file_inode;
    struct step_writer *writer;
    struct live_allocs_decoder *decoder;
    pthread_t drain;
    _Atomic bool end_wanted;
    const char *end; /* how it ended */
};

/* ---- recording.c ---- */

/* Finds the real functions; starts the recording if that is due.  Any thread, any time. */
void recorder_prepare(void);
void recorder_start(void);
/* Ends the recording, if there is one of this process, and waits until the file is closed. */
void recorder_stop(const char *end);

/* ---- process.c: what else of the program's life is followed ---- */
void process_follow(void);
void process_find_real(void);

/* ---- recording_drain.c: the drain thread ---- */
void *record_drain_run(void *recording);

/* ---- own mode ---- */
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

#endif
