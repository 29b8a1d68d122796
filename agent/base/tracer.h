/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's global context, and the session: one trace from its start to its end.
 *
 * Threads: probes (callbacks in Java threads) use the session between probe_enter() and
 * probe_leave() only. The drain thread, which the JVM does not know, encodes, writes and ends the
 * session. JVMTI is called by callbacks and by the threads that start and stop a session, never by
 * the drain thread and never under a lock of live_map.h. */
#ifndef AGENT_BASE_TRACER_H
#define AGENT_BASE_TRACER_H

#include <jvmti.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "agent/base/agent_options.h"
#include "agent/base/memory.h"
#include "capture/clock.h"
#include "capture/live_map.h"
#include "capture/trace_file.h"
#include "steptrace/writer.h"

#define STAMPS_COUNTED UINT64_MAX

/* Why a session ended. */
enum session_end {
    END_VM_DEATH,
    END_STOPPED,
    END_LIMIT,
    END_DISK_FULL,
    END_FAILED,
    END_MEMORY,
    END_MAX_CPU,
    END_MAX_PAUSE
};

struct engine;
struct live_decoder;
struct session;
struct stack_tree;
struct trace_file;

/* State of the layers above. Each layer owns its part. */

/* No event went without a stamp since the pulse changed; one may have; none, and the thread that
 * changes it sleeps. */
enum pulse_beat { BEAT_IDLE, BEAT_WANTED, BEAT_ASLEEP };

/* agent/records/stamps.c */
struct session_stamps {
    /* 0: stamps come from the clock. STAMPS_COUNTED: they are tracer.tick (resolution=none).
     * Otherwise the stamp of every event: that of the start snapshot. */
    _Atomic uint64_t frozen;
    _Atomic uint64_t latest_frozen; /* latest stamp of a stream meanwhile: no free is earlier */
    uint64_t first;                 /* at VM init */
    /* agent/records/pulse.h */
    uint64_t every; /* events of a thread from one stamp to the next; 0: each has one */
    bool repeats;   /* ... allocations, too: they have the stamp before them */
    uint64_t brisk; /* stamps from event to event, on average, where some are left out */
    bool beats;     /* `pulse` runs, until `pulse_ends` */
    pthread_t pulse;
    _Atomic bool pulse_ends;
};

/* agent/events/events.c: frees whose FREE_END is not written yet; see event_free() */
struct session_free_batch {
    bool open;
    uint64_t gap;   /* the pause, in stamps, that ends a batch */
    uint64_t stamp; /* of the last free */
    uint64_t raw;   /* when the last free came, as clock_raw() */
    uint64_t collection;
};

/* agent/events/last_words.h */
struct session_last_words {
    _Atomic bool said;
    uint64_t until;
};

/* agent/references */
struct session_references {
    uint64_t snapshot_count;  /* heap_graph.h */
    uint64_t snapshot_ns;     /* how long the last one took */
    uint64_t snapshot_due_ns; /* used by the reaper; 0: not set yet */
};

/* agent/deaths/reaper.c */
struct session_deaths {
    _Atomic bool reaped; /* engine=bytecode: the last search for dead objects is done */
    /* Collections that ended before the dead of the one before were found: some of those have the
     * time of the later one. */
    _Atomic uint64_t joined;
    _Atomic bool unsearched; /* the last search was left out: the latest deaths are missing */
};

/* agent/bytecode/new_objects.c */
struct session_bytecode {
    uint64_t check_until;         /* until then objects may be known from the start snapshot */
    _Atomic uint64_t uncollected; /* collect=: bytes allocated since the last collection */
};

/* agent/session/memory_account.c: the most that was measured, in bytes */
struct session_memory {
    uint64_t parts[MEMORY_COUNT];
    uint64_t sum; /* of all parts at one time */
    uint64_t now; /* of all parts, at the last measurement */
};

/* agent/session/guards.c: used by the drain thread */
struct session_guards {
    _Atomic bool on;                            /* the session has begun */
    uint64_t due_ns;                            /* when the next window ends; 0: none has begun */
    uint64_t from_ns, own_ns, process_ns;       /* at the window's begin */
    unsigned above, below;                      /* windows in a row above max-cpu=, and calm ones */
    uint64_t decided;                           /* `decisions` when the window began */
    uint64_t peak_share, longest_ns, decisions; /* for the trace's properties */
};

/* agent/session: used by the drain thread */
struct session_drain {
    struct trace_store *store;
    struct step_writer *writer;
    struct live_decoder *decoder;
    pthread_t thread;
    sem_t errand_wanted, errand_done; /* see session_errand() */
    bool (*errand)(struct session *session);
    bool errand_succeeded, keeps_apart, started, dismissed;
    _Atomic uint32_t flush_wanted, flush_done;
    struct session_memory memory;
    struct session_guards guards;
    struct file_identity identity; /* of the file, when it was made */
    uint64_t quiet_from_ns;        /* when it began to wait for probes that use the session */
};

struct session {
    uint64_t number; /* 1 for the first */
    /* rotate=: the number of the session that wrote the first file, and the first object id that
     * no earlier file has. Otherwise the session's own number, and 1. */
    uint64_t ring_number, first_object;
    uint64_t next_object; /* at the end: the first id that this file does not have */
    bool is_followed;     /* rotate=: it ends, and the next file begins */
    struct options options;
    const struct engine *engine;
    struct live_map *map;
    struct live_stream *global; /* written under global_lock */
    struct live_stream *frees;  /* written by event_free() and event_free_many() only */
    pthread_mutex_t global_lock;
    struct session_stamps stamps;
    const char *incomplete;     /* why the trace misses most; NULL: it does not */
    const char *stacks_fault;   /* why call stacks may be wrong; NULL: they are not */
    const char *fallback;       /* why engine=jvmti was chosen instead; NULL: it was not */
    bool late;                  /* the program ran before the trace began */
    bool gentle;                /* loaded classes are changed and restored in slices */
    bool names_objects;         /* engine=bytecode: method events have object ids */
    bool finds_objects;         /* engine=bytecode: looks up objects, for that or for stores of
                                 * references */
    bool keeps_references;      /* engine=bytecode: keeps weak references, for that or to find the
                                 * dead */
    bool holds;                 /* engine=bytecode: objects may be looked at, see hold.h */
    bool places;                /* ... in leaf calls at least */
    bool makes_plain;           /* ... and a new object needs no more than such a call */
    uint32_t padding_mask;      /* layout=yes: an object's alignment less 1; else 0 */
    _Atomic bool methods_on;    /* engine=bytecode: the start snapshot is done */
    _Atomic bool quick_methods; /* ... and method events may take the fast path */
    _Atomic bool quick_objects; /* allocations may take the fast path */
    _Atomic uint64_t class_count, method_count, thread_count; /* dictionary entries */
    struct stack_tree *stacks; /* NULL: allocations have no call stack */
    struct session_free_batch free_batch;
    uint64_t end_collection_ns; /* how long the collection of end= took; 0: there was none */
    struct session_references references;
    struct session_deaths deaths;
    struct session_bytecode bytecode;
    struct session_drain drain;
    _Atomic bool published; /* probes can find the session: it must not end before that */
    _Atomic bool end_wanted;
    /* threads_order_probes() once no probe finds the session any more; 0 before */
    _Atomic uint64_t ended_probes;
    struct session_last_words last_words;
    struct missed_bytes *_Atomic missed; /* NULL: the JVM's counters are not compared */
    enum session_end end;
    enum session_end wanted_end;
    _Atomic uint64_t wanted_ns; /* when wanted_end was set */
    /* how long the thread that entered a method of start= waited for the trace; 0: none did */
    _Atomic uint64_t start_wait_ns;
    bool ending;            /* under state_lock: the end has begun, do not wake the drain thread */
    bool ended;             /* under state_lock */
    bool joined;            /* under the control lock */
    _Atomic bool given_up;  /* session_give_up() was called */
    _Atomic bool abandoned; /* a thread may use it for ever: it is never freed */
    pthread_mutex_t state_lock;
    pthread_cond_t state_changed;
};

struct tracer {
    JavaVM *vm;
    jvmtiEnv *jvmti;
    int java_major; /* 17, 25, ... */
    bool attached;  /* loaded into a running JVM */
    bool has_virtual_threads;
    _Atomic bool dying;        /* VM death; set before the last session ends */
    _Atomic uint64_t death_ns; /* when the JVM announced its death; 0: not yet */
    bool early_collection;     /* TLABs handed out before sampling must be retired */
    uint32_t capable;          /* enum option_event bits that this JVM supports */
    struct options options;
    struct clock_scale scale;
    struct clock_moment start;         /* time zero: VM start, or where a later trace began */
    _Atomic(struct session *) session; /* NULL: no events are recorded */
    _Atomic uint64_t session_count;
    _Atomic uint64_t collections_begun, collections; /* garbage collections: begun, finished */
    _Atomic bool in_collection;
    _Atomic uint64_t collection_raw; /* when the last one finished, as clock_raw() */
    /* Clock of traces without times. It advances when a collection ends and wherever else the order
     * of events of several threads must be recorded. collection_tick: its value until the last
     * collection ended. */
    _Atomic uint64_t tick, collection_tick;
    _Atomic uint64_t pulse; /* changes with time, and with what all threads' events have an order
                             * with: pulse.h */
    _Atomic uint32_t beat;  /* enum pulse_beat: whether time has to change it */
    _Atomic bool events_on; /* JVMTI notifications are enabled */
    _Atomic bool forked;    /* this process is a fork of the traced one */
    _Atomic bool closing;   /* VM death: `closer` ends the trace, other threads wait in probes */
    pthread_t closer;
    pthread_mutex_t control_lock; /* for starting and stopping */
    struct session *last;         /* the session of the last trace, ended or not */
};

extern struct tracer tracer;

/* Returns the stamp while `stamps.frozen` is not 0. */
static inline uint64_t tracer_stamp_without_clock(uint64_t frozen)
{
    return frozen != STAMPS_COUNTED ? frozen
                                    : atomic_load_explicit(&tracer.tick, memory_order_acquire);
}

/* Clock ticks since VM start. */
static inline uint64_t tracer_stamp(const struct session *session)
{
    uint64_t frozen = atomic_load_explicit(&session->stamps.frozen, memory_order_acquire);
    return frozen != 0 ? tracer_stamp_without_clock(frozen) : clock_raw() - tracer.scale.zero;
}

/* Returns true while the start snapshot is being taken. */
static inline bool tracer_is_starting(const struct session *session)
{
    uint64_t frozen = atomic_load_explicit(&session->stamps.frozen, memory_order_acquire);
    return frozen != 0 && frozen != STAMPS_COUNTED;
}

static inline uint64_t tracer_stamps_of_ns(uint64_t ns)
{
    return (uint64_t) (((unsigned __int128) ns << tracer.scale.shift) / tracer.scale.multiplier);
}

#endif
