/* SPDX-License-Identifier: Apache-2.0 */
/* Threads. `struct os_thread` is the agent's state of a native thread (its stream, whether it is in
 * a probe). `struct java_thread` is that of a Java thread, platform or virtual (its number in the
 * trace, its open frames). */
#ifndef AGENT_RECORDS_THREADS_H
#define AGENT_RECORDS_THREADS_H

#include "agent/records/stamps.h"

enum thread_flag { THREAD_DAEMON = 1, THREAD_VIRTUAL = 2 };

/* Open phases, outermost first: phases.h. */
struct open_phase {
    uint64_t name; /* in the session's dictionary */
    uint32_t key;
    bool is_handed_on; /* to threads that this one starts */
};
struct phase_list {
    struct open_phase *open;
    size_t count, capacity;
};

/* Never freed, only reused for another thread: a native thread that missed that it lost a virtual
 * thread still reads it once more. */
struct java_thread {
    uint64_t session;
    struct os_thread *_Atomic os; /* the native thread that runs it, as far as known */
    bool is_virtual;
    struct java_thread *next_unused;
    uint64_t id;         /* in the session's dictionary */
    uint64_t last_stamp; /* of its last record before it left its carrier */
    struct method_frame *frames;
    size_t depth, capacity;
    size_t pending;           /* waiting frames: see constructors.h */
    size_t reserved;          /* frames whose object is not there yet, but has its id */
    uint64_t window_start;    /* stream's event count when the first waiting frame began */
    struct call_stack *calls; /* method=count: its open calls */
    struct phase_list phases;
};

struct method_frame {
    uint64_t method;  /* in the session's dictionary */
    void *key;        /* its jmethodID, or its probes' number */
    uint64_t pending; /* a constructor's entry whose object is not known yet: the number of its
                       * record in the stream plus one, with bits of constructors.h; else 0 */
    struct live_stream *stream; /* that stream */
    uint64_t object;            /* constructors.h */
};

#define CLASS_CACHE 256 /* in pairs: two classes with the same place both fit */
#define CLASS_WORDS_LOG2 8u
#define RECENT_OBJECTS 4u

/* A recently used class. The address of its mirror is only a hint, since a collection moves it; the
 * weak reference decides. */
struct class_cache_entry {
    uintptr_t hint;
    jweak mirror;
    uint64_t session, number;
    uint64_t size_bytes; /* of all its objects; 0: they differ */
    bool is_array;       /* known to be an array */
    bool has_layout;     /* layouts.h */
    uint8_t clone;       /* vm_objects.c */
    uint64_t noted;      /* object_facts.c: collections when its word was noted, plus 1, */
    uint32_t asked;      /* ... and for how many objects it was asked for since */
};

/* A class by the class word in its objects' headers. Valid until the next collection, which may
 * unload the class and reuse the word. */
struct class_word_entry {
    uint64_t word, collections, session;
    uint64_t number, size_bytes; /* as above */
    uint8_t element_shift;       /* of an array's elements */
};

/* Addresses of the newest objects that a probe reported or looked at, with the number of
 * collections then: see new_objects.h. */
struct recent_objects {
    uintptr_t places[RECENT_OBJECTS];
    uint64_t collections;
    uint32_t count;
};

struct recycled;
struct known_object;

/* The object shown to a leaf call: its address, with the number of collections then; see
 * agent/references/sights.h. */
struct sight {
    uintptr_t place;
    uint64_t with, collections;
};

/* State of the layers above in a thread. They own it. It is part of the thread so that no further
 * pointer is needed; this layer only initialises it. */
struct thread_of_events {
    uint64_t sampled;     /* the session in which its next sample was drawn: engine_sampled.c */
    uint64_t drawn_bytes; /* ... the mean interval then */
    uint64_t draw;        /* ... and the draw's number: draw_repeats.h */
    bool thread_began;    /* while a session sampled */
    uint64_t checked;     /* the session whose start snapshot this thread has passed */
    /* last sampled object, to detect duplicates that have lost their tag: see events.c */
    uint64_t last_object, last_class, last_size_bytes;
};

struct thread_of_deaths {
    _Atomic(struct weak_page *) weak_page; /* engine=bytecode: references not yet handed to the
                                            * reaper */
    _Atomic uint64_t weak_session;
    /* References to recycle. Used by the owner; others (the thread's end, the reaper after a
     * session) take them by exchanging the pointer. */
    _Atomic(struct recycled *) recycled;
};

struct thread_of_references {
    struct known_object *known_objects; /* allocated when the first object is named */
    struct sight sight;
    void (*shown)(uintptr_t place, void *context); /* sights.c */
    void *shown_context;
};

struct thread_of_bytecode {
    uint32_t vm_natives; /* open calls that vm_natives.c handles */
    uint32_t sights;     /* nested first sights of objects: stores_of_vm.c */
    bool collects;       /* collect=: the probe ends with a collection */
    struct recent_objects recent;
    struct class_word_entry class_words[1u << CLASS_WORDS_LOG2][2];
};

struct os_thread {
    _Atomic int in_probe;
    _Atomic uint64_t left; /* seen outside probes since that value of threads_order_probes() */
    _Atomic int holds;     /* hold.h */
    uint64_t session;      /* the session of `stream` */
    struct live_stream *stream;
    struct java_thread *own;     /* the platform thread */
    bool carries;                /* it has, or had, a virtual thread */
    bool ended;                  /* its end was recorded: what follows is the VM's own */
    struct java_thread *current; /* the thread that runs on it now: own, or a virtual thread */
    struct os_thread *next_all;
    struct os_thread *next_idle;
    struct call_counts *counts;   /* method=count */
    struct thread_stacks *stacks; /* allocated at the first call stack */
    struct thread_of_events events;
    struct thread_of_deaths deaths;
    struct thread_of_references references;
    struct class_cache_entry uncached;
    struct class_cache_entry classes[CLASS_CACHE];
    struct thread_of_bytecode bytecode;
};

void threads_initialize(void);
/* Frees another layer's state of a native thread that ends. Hooks are called in the order in which
 * they were set; set all of them at load, before any thread is known. */
typedef void thread_end_hook(struct os_thread *os);
void thread_at_end(thread_end_hook *hook);
/* Adds one of the agent's own Java threads, a global reference, which is not part of the program:
 * two at most. Removes it when it has ended. */
void thread_leave_out(jobject thread);
bool thread_leave_in(jobject thread);
bool thread_is_left_out(jthread thread);

/* State of the calling thread; NULL until its first probe. */
extern __thread struct os_thread *thread_self __attribute__((tls_model("initial-exec")));
extern _Atomic bool probes_need_fence;

/* Marks the calling thread as in a probe and returns the session. NULL if nothing is recorded. */
struct session *probe_enter(struct os_thread **out);
static inline void probe_leave(struct os_thread *os)
{
    atomic_store_explicit(&os->in_probe, 0, memory_order_release);
}

/* Returns the thread's stream, taken at first use; NULL: out of memory. */
struct live_stream *thread_stream(struct session *session, struct os_thread *os);

/* Returns the Java thread that runs here, if it is known. */
static inline struct java_thread *thread_known(const struct session *session,
                                               const struct os_thread *os)
{
    struct java_thread *java = os->current;
    return java != NULL && java->session == session->number &&
                   atomic_load_explicit(&java->os, memory_order_relaxed) == os
               ? java
               : NULL;
}

/* Same, registering the thread at first use; `thread` is the callback's. */
struct java_thread *thread_current(struct session *session, struct os_thread *os, jthread thread);

bool thread_grow_frames(struct java_thread *java);

/* Registers a thread: writes its dictionary entry and its start event. */
struct java_thread *thread_register(struct session *session, jthread thread, bool existing);
void thread_started(struct session *session, struct os_thread *os, jthread thread, bool is_virtual);
/* Returns the agent's state of the thread, or NULL. Needed because a virtual thread ends after it
 * has left its carrier, so its os_thread does not show it. */
struct java_thread *thread_of(jthread thread);
/* Records the end. Returns the thread's state, to be passed to thread_forget(), or NULL. */
struct java_thread *thread_ended(struct session *session, struct os_thread *os, jthread thread);
/* Discards the thread's state without recording, if there is no session. */
void thread_ended_unseen(jthread thread, bool is_virtual);
void thread_forget(struct os_thread *os, struct java_thread *java, bool is_virtual);
/* Call when a virtual thread mounts or unmounts on this native thread. */
void thread_mounted(struct session *session, struct os_thread *os, jthread thread);
void thread_unmounted(const struct session *session, struct os_thread *os);

/* Returns the first native thread that the agent knows; the others follow by next_all. */
struct os_thread *threads_first(void);

/* Call after changing tracer.session: every probe that does not see the change has its mark set.
 * Returns the argument of threads_have_left(). */
uint64_t threads_order_probes(void);
/* Orders marks only: every thread's mark of a probe or hold is visible, or that thread has not
 * looked yet. Returns false if the kernel refuses the barrier that it granted at load (a seccomp
 * filter that was set later). From then on probes use a fence (`probes_need_fence`), and marks that
 * were never fenced must not be relied on. */
bool threads_barrier(void);
/* Returns true if each thread has been seen outside probes since that call. */
bool threads_have_left(uint64_t since);
/* Return true if this thread has, and the number of threads that have not. */
static inline bool thread_has_left(const struct os_thread *os, uint64_t since)
{
    return atomic_load(&os->left) >= since;
}
uint64_t threads_not_left(uint64_t since);

#endif
