/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live file: a shared file mapping beside a trace that is being written (run.step.live), which
 * holds the raw records that have not reached the trace yet.  If the traced process dies, the
 * mapping survives; step_live_recover() turns its raw records into records of the trace
 * (docs/formats/live.md).
 *
 * The file is a header page followed by chunks, without gaps.  A chunk belongs to one stream; its
 * owner appends whole raw records and publishes the new end with a release store of `used`.
 */
#ifndef STEPTRACE_LIVE_H
#define STEPTRACE_LIVE_H

#ifdef __cplusplus
#include <atomic>
#define STEP_LIVE_ATOMIC(type) std::atomic<type>
#else
#include <stdatomic.h>
#define STEP_LIVE_ATOMIC(type) _Atomic type
#endif
#include <stdbool.h>
#include <stdint.h>

#include "steptrace/status.h"
#include "steptrace/value.h"
#include "steptrace/writer.h"

/* The declarations below are exported by the shared library. */
#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

#define STEP_LIVE_SUFFIX ".live"
#define STEP_LIVE_MAGIC "STEPLIVE"
/* Property of a trace, "yes" if the live file, which is kept, has all records that the trace
 * lacks. */
#define STEP_LIVE_REST "rest-in-live"
/* Properties of a trace without its end: the time from which on records may be missing, and, if the
 * last copy of the ring could not be made, the largest number of events in 100 ms before it. */
#define STEP_LIVE_MISSING_AFTER "missing-after-ns"
#define STEP_LIVE_MISSING_EVENTS "missing-events-in-100ms"
/* Start of the damage message for a live file that could not be read. */
#define STEP_LIVE_UNREAD "what the process left cannot be read"
/* version 1 had no runs of FREE_OBJECT, version 2 no method events without a stamp */
#define STEP_LIVE_VERSION 3u
#define STEP_LIVE_PAGE 4096u
/* Value of the property `clock` for a trace without times: its ticks count collections and similar
 * events. */
#define STEP_LIVE_CLOCK_NONE "none"
/* Property of a trace in which not all events have a time of their own: every how many events of a
 * thread have. */
#define STEP_LIVE_INTERPOLATED "time-interpolated"
#define STEP_LIVE_INTERNALS_BYTES 1024u
#define STEP_LIVE_WAITS_BYTES 128u
#define STEP_LIVE_CHUNK_MAGIC 0x4b4e4843u /* "CHNK" */

/* The first page of the file.  All integers are in the machine's own byte order (x86-64 and
 * AArch64: little-endian); the file never leaves its machine. */
struct step_live_header {
    char magic[8];
    uint32_t version;
    uint32_t page_bytes;
    uint64_t process_id;
    /* ns since VM start = ((stamp - clock_zero) * clock_multiplier) >> clock_shift; dividing by
     * resolution_ns gives ticks */
    uint64_t clock_zero;
    uint64_t clock_multiplier;
    uint32_t clock_shift;
    uint32_t resolution_ns;
    STEP_LIVE_ATOMIC(uint64_t) file_bytes; /* header and all chunks */
    STEP_LIVE_ATOMIC(uint64_t) dropped;    /* records that found no room (overflow=drop) */
    STEP_LIVE_ATOMIC(uint64_t) free_stamp; /* when the last FREE_OBJECT was written */
    uint64_t definition;                   /* enum step_live_definition */
    /* The following four: only in a file that is a repeatedly updated copy of a ring in memory. */
    uint32_t copy_state;   /* enum step_live_copy */
    uint32_t copied_by;    /* the process that makes the copies */
    uint64_t copied_stamp; /* all records published by then are in the copy */
    uint64_t copied_most;  /* the most words of records that a recent copy added */
    /* Native programs: when the first record was lost because the buffers were no longer emptied.
     * Records from then on may be missing. 0: none was lost. */
    STEP_LIVE_ATOMIC(uint64_t) lost_stamp;
    /* Java programs: the methods (start=) of which one's entry begins an exact window or the trace,
     * NUL-terminated; empty: nothing waits */
    char waits_for[STEP_LIVE_WAITS_BYTES];
    uint8_t reserved[16];
    /* internals of the JVM that the agent used (the property of that name), NUL-terminated; empty
     * if not stated */
    char internals[STEP_LIVE_INTERNALS_BYTES];
};

/* The set of raw record kinds that the file uses. */
enum step_live_definition { STEP_LIVE_DEFINITION_JAVA = 0, STEP_LIVE_DEFINITION_HEAP = 1 };

enum step_live_copy {
    STEP_LIVE_COPY_NONE = 0, /* the file is the ring itself */
    STEP_LIVE_COPY_RUNNING = 1,
    STEP_LIVE_COPY_ENDING = 2, /* the program has ended, the last copy is in progress */
    STEP_LIVE_COPY_WHOLE = 3   /* the last copy is complete */
};

enum step_live_state { STEP_LIVE_FREE = 0, STEP_LIVE_ACTIVE = 1, STEP_LIVE_FULL = 2 };

/* Header of a chunk; raw records follow it. */
struct step_live_chunk {
    uint32_t magic;
    uint32_t size_bytes;              /* header included; a multiple of the page */
    STEP_LIVE_ATOMIC(uint32_t) state; /* enum step_live_state */
    /* Native programs: the word offset after this header of a pending free (HEAP_IN and FREE,
     * beyond `used`), valid unless the record that reports it is written; 0: none. */
    STEP_LIVE_ATOMIC(uint32_t) owed_at;
    uint64_t stream;
    uint64_t order;                  /* position among the stream's chunks */
    uint64_t first_record;           /* number, in the stream, of the first event record in it */
    uint64_t thread;                 /* the current thread at the start of the chunk */
    STEP_LIVE_ATOMIC(uint64_t) used; /* bytes of complete raw records after this header */
    uint64_t owed_record;            /* number, in the stream, of the pending record */
};

/*
 * Raw records are sequences of 8-byte words.  Word 0: bits 0-4 are the kind, bits 5-63 the stamp
 * (clock ticks since clock_zero).  FREE_OBJECT, THREAD_SWITCH, STACK and the DEFINE kinds have no
 * time; their bits 5-63 are the object, the thread, the frame, or the entry's identifier.
 */
#define STEP_LIVE_KIND_BITS 5u
#define STEP_LIVE_METHOD_BITS 27u
#define STEP_LIVE_PAST_BITS 32u
/* In place of the ticks of a short method event: it has no stamp, and a time between those around
 * it.  Where they are further apart than this, the thread has waited, and it has that of the one
 * before. */
#define STEP_LIVE_PAST_SPARED ((UINT64_C(1) << STEP_LIVE_PAST_BITS) - 1)
#define STEP_LIVE_SPARED_NS UINT64_C(2000000)
enum step_live_kind {
    STEP_LIVE_NONE = 0,
    /* control records and dictionary entries; not counted as event records */
    STEP_LIVE_THREAD_SWITCH = 1, /* word 0 >> 5: the thread of the records that follow */
    STEP_LIVE_DEFINE_CLASS = 2,  /* words: loader; name length in bytes; name, zero-padded */
    STEP_LIVE_DEFINE_METHOD = 3, /* words: class; modifiers; name length | descriptor length << 32;
                                    both texts, one after the other, zero-padded.  With
                                    STEP_LIVE_IS_FIELD among the modifiers it is an entry of the
                                    field dictionary; with STEP_LIVE_IS_PHASE_NAME it is one of the
                                    names of phases (class 0, no descriptor); with
                                    STEP_LIVE_IS_SOURCE the class's source file, and the map of its
                                    lines in place of the descriptor; with STEP_LIVE_IS_LAYOUT and
                                    the superclass among the modifiers the class's fields */
    STEP_LIVE_DEFINE_THREAD = 4, /* words: flags; name length; name, zero-padded */
    STEP_LIVE_FREE_END = 5,      /* stamp: the time of all FREE_OBJECT since the last FREE_END */
    STEP_LIVE_DEFINE_FRAME =
        6,               /* words: parent | method << 32; line | (1 + bytecode index) << 32 */
    STEP_LIVE_STACK = 7, /* word 0 >> 5: the frame of the allocations that follow in this chunk; 0
                            (as at the start of a chunk): unknown */
    /* event records */
    STEP_LIVE_VM_START = 8,
    STEP_LIVE_VM_INIT = 9,
    STEP_LIVE_VM_DEATH = 10,
    STEP_LIVE_CLASS_LOAD = 11,     /* word 1: class */
    STEP_LIVE_CLASS_EXISTING = 12, /* word 1: class */
    STEP_LIVE_THREAD_START = 13,   /* word 1: thread */
    STEP_LIVE_THREAD_EXISTING = 14,
    STEP_LIVE_THREAD_END = 15,
    STEP_LIVE_ALLOC = 16,       /* word 1: step_live_alloc_word(); word 2: object */
    STEP_LIVE_EXISTING = 17,    /* as ALLOC */
    STEP_LIVE_FREE_OBJECT = 18, /* word 0 >> 5: step_live_freed_object(); as many event records as
                                   it has objects */
    STEP_LIVE_ENTRY = 19,       /* word 1: method; word 2: object */
    STEP_LIVE_EXIT = 20,        /* word 1: method */
    STEP_LIVE_FRAME_POP = 21,   /* word 1: method */
    STEP_LIVE_ALLOC_NEXT =
        22, /* ALLOC without word 2: the object is one more than the previous one in the chunk */
    /* Short method events, one word: word 0 >> 5 has the method in its low STEP_LIVE_METHOD_BITS
     * and above them the ticks since the previous stamp in the chunk, or STEP_LIVE_PAST_SPARED. */
    STEP_LIVE_ENTRY_SHORT = 23, /* object 0 */
    STEP_LIVE_EXIT_SHORT = 24,
    /* Entry of a constructor; a CONSTRUCTED for it has its object. */
    STEP_LIVE_ENTRY_NEW = 25, /* word 1: method */
    /* control records that resolve an ENTRY_NEW: its object, or none */
    STEP_LIVE_CONSTRUCTED = 26, /* word 0 >> 5: the object; word 1: the number of event records of
                                   the stream since that entry, itself included; 2 ^ 63 if no other
                                   entry waits for its object */
    STEP_LIVE_UNWAITED = 27,    /* no entry waits for its object any longer */
    STEP_LIVE_ENTRY_NEW_SHORT = 28,
    STEP_LIVE_FRAME_POP_SHORT = 29,
    /* references: words 1 and 2 hold a kind (enum step_live_reference), two ids and a number, see
     * step_live_reference_words(); some have a word 3 */
    STEP_LIVE_REFERENCE = 30,
    /* a rare event record: word 1 is its enum step_live_fact, word 2 the length in bytes of the
     * rest */
    STEP_LIVE_FACT = 31,
    STEP_LIVE_KIND_COUNT = 32
};

#define STEP_LIVE_IS_FIELD (UINT64_C(1) << 32)
#define STEP_LIVE_IS_PHASE_NAME (UINT64_C(1) << 33)
#define STEP_LIVE_IS_SOURCE (UINT64_C(1) << 34)
#define STEP_LIVE_IS_LAYOUT (UINT64_C(1) << 35)
/* The payload of a FREE_OBJECT, of a run of objects with consecutive ids: the first id in 40 bits;
 * whether the objects are of an earlier file of rotate=; and how many follow the first one. */
#define STEP_LIVE_IS_EARLIER (UINT64_C(1) << 40)
#define STEP_LIVE_FREED_BITS 41u
#define STEP_LIVE_FREED_MOST (UINT64_C(1) << 10) /* objects in a run */
static inline uint64_t step_live_freed_object(uint64_t payload)
{
    return payload & (STEP_LIVE_IS_EARLIER - 1);
}
static inline uint64_t step_live_freed_count(uint64_t payload)
{
    return 1 + (payload >> STEP_LIVE_FREED_BITS & (STEP_LIVE_FREED_MOST - 1));
}

/* Word 1 of an allocation: a class, the bytes after an array's elements (layout=yes) and the size
 * in units of 8 bytes. */
#define STEP_LIVE_CLASS_BITS 27u
static inline uint64_t step_live_alloc_word(uint64_t class_, uint64_t padding, uint64_t size_bytes)
{
    return class_ | padding << STEP_LIVE_CLASS_BITS | size_bytes / 8 << 32;
}
static inline uint64_t step_live_alloc_class(uint64_t word)
{
    return word & ((UINT64_C(1) << STEP_LIVE_CLASS_BITS) - 1);
}
static inline uint64_t step_live_alloc_padding(uint64_t word)
{
    return word >> STEP_LIVE_CLASS_BITS & ((1u << (32 - STEP_LIVE_CLASS_BITS)) - 1);
}
static inline uint64_t step_live_alloc_size(uint64_t word)
{
    return (word >> 32) * 8;
}

/* The kind of a REFERENCE; the comments list its first id, second id, number; word 3. */
enum step_live_reference {
    STEP_LIVE_FIELD_STORE = 1,   /* holder, target, field */
    STEP_LIVE_ELEMENT_STORE = 2, /* holder, target, index */
    STEP_LIVE_CLONE_STORE = 3,   /* holder, source */
    STEP_LIVE_SNAPSHOT = 4,      /* its number; enum step_live_snapshot */
    STEP_LIVE_FIELD_EDGE = 5,    /* holder, target, field */
    STEP_LIVE_ELEMENT_EDGE = 6,  /* holder, target, index */
    STEP_LIVE_OTHER_EDGE = 7,    /* holder, target, JVMTI's kind */
    STEP_LIVE_RANGE_STORE = 8,   /* holder, source, length; source's index | holder's << 32 */
    STEP_LIVE_ROOT = 9,          /* thread, target, JVMTI's kind | depth << 8; method */
    STEP_LIVE_SNAPSHOT_END = 10  /* objects, references, roots; unknown | snapshot's number << 40 */
};
enum step_live_snapshot {
    STEP_LIVE_AT_START = 0,
    STEP_LIVE_AT_END,
    STEP_LIVE_BY_COMMAND,
    STEP_LIVE_EVERY,
    STEP_LIVE_SNAPSHOT_REASONS
};
#define STEP_LIVE_REFERENCE_ID_BITS 40u
/* Fills words 1 and 2 of a REFERENCE.  Ids keep their low STEP_LIVE_REFERENCE_ID_BITS bits, the
 * number its low 44 bits; higher bits are dropped. */
static inline void step_live_reference_words(uint64_t *words, enum step_live_reference kind,
                                             uint64_t first, uint64_t second, uint64_t number)
{
    uint64_t ids = (UINT64_C(1) << STEP_LIVE_REFERENCE_ID_BITS) - 1;
    words[1] = (uint64_t) kind | (first & ids) << 4 | number << 44;
    words[2] = (second & ids) | number >> 20 << STEP_LIVE_REFERENCE_ID_BITS;
}

enum step_live_fact {
    /* words: missing events (1: method, 2: allocation); lengths of class and (<< 32) method name,
     * of descriptor and (<< 32) reason; the four texts, one after the other, zero-padded */
    STEP_LIVE_NOT_PROBED = 1,
    STEP_LIVE_METHOD_COUNT = 2, /* words: method; calls; exceptions; inclusive, exclusive ns */
    /* In the thread's stream; words: the name's number; enum step_live_phase bits | depth << 32 */
    STEP_LIVE_PHASE = 3,
    /* In the thread's stream: an ALLOC by another interval than the property `sample`; words: class
     * and size as in ALLOC; object; interval in bytes */
    STEP_LIVE_SAMPLED = 4,
    STEP_LIVE_GIVEN_UP = 5, /* in the stream of frees; words: object, or 0; threshold */
    /* words: collection, class or 0, objects, bytes */
    STEP_LIVE_EDEN_CLASS = 6,
    /* words: collection; enum step_live_eden; bytes counted, known, of fillers; ns */
    STEP_LIVE_EDEN_WALK = 7,
    /* words: as EDEN_CLASS; objects and bytes that survived */
    STEP_LIVE_EDEN_SURVIVED = 8,
    /* words: collection, class, age, objects, bytes */
    STEP_LIVE_EDEN_AGE = 9
};
/* Whether the objects that were allocated since the last record have been seen. */
enum step_live_eden {
    STEP_LIVE_EDEN_WALKED = 0,
    STEP_LIVE_EDEN_LEFT_OUT, /* walks would have taken too large a part of the time */
    STEP_LIVE_EDEN_UNSEEN,   /* a collection was not announced */
    STEP_LIVE_EDEN_REFUSED,  /* what was found was wrong */
    STEP_LIVE_EDEN_COUNTED   /* no walk: the counters of all threads were read (totals=threads) */
};
#define STEP_LIVE_EDEN_CLASS_BYTES 32u
#define STEP_LIVE_EDEN_WALK_BYTES 48u
#define STEP_LIVE_EDEN_SURVIVED_BYTES 48u
#define STEP_LIVE_EDEN_AGE_BYTES 40u
enum step_live_phase { STEP_LIVE_PHASE_ENDS = 1, STEP_LIVE_PHASE_OF_PROGRAM = 2 };
#define STEP_LIVE_PHASE_BYTES 16u
#define STEP_LIVE_METHOD_COUNT_BYTES 40u
#define STEP_LIVE_SAMPLED_BYTES 24u
#define STEP_LIVE_GIVEN_UP_BYTES 16u

#define STEP_LIVE_OWED_WORDS 3u

/* Raw record kinds of native programs, besides THREAD_SWITCH and STACK.  All but HEAP_IN and
 * HEAP_FRAME are event records with a stamp. */
enum step_live_heap_kind {
    STEP_LIVE_HEAP_IN = 2,    /* word 0 >> 5: the heap of the next record only */
    STEP_LIVE_HEAP_FRAME = 6, /* word 0 >> 5: the frame's number, consecutive in the global stream;
                                 words: the caller's frame or 0; the return address */
    STEP_LIVE_HEAP_THREAD_CREATE = 8, /* word 1: thread */
    STEP_LIVE_HEAP_THREAD_DESTROY = 9,
    STEP_LIVE_HEAP_ALLOC = 10,   /* word 1: size in bytes and the call; word 2: address */
    STEP_LIVE_HEAP_FREE = 11,    /* word 1: address and the call */
    STEP_LIVE_HEAP_REALLOC = 12, /* words: size and the call; old address or 0; new address or 0 */
    STEP_LIVE_HEAP_CREATE = 13,  /* word 1: heap */
    STEP_LIVE_HEAP_DESTROY = 14,
    STEP_LIVE_HEAP_KIND_COUNT = 15
};

/* The function that was called.  It shares a word with a size or an address: size | log2(alignment)
 * << 48 | call << 56, address | call << 56. */
#define STEP_LIVE_HEAP_ALIGNMENT_SHIFT 48u
#define STEP_LIVE_HEAP_CALL_SHIFT 56u
enum step_live_heap_call {
    STEP_LIVE_CALL_PLAIN = 0, /* malloc, realloc, free */
    STEP_LIVE_CALL_CALLOC,
    STEP_LIVE_CALL_ALIGNED_ALLOC,
    STEP_LIVE_CALL_POSIX_MEMALIGN,
    STEP_LIVE_CALL_MEMALIGN,
    STEP_LIVE_CALL_VALLOC,
    STEP_LIVE_CALL_PVALLOC,
    STEP_LIVE_CALL_NEW,
    STEP_LIVE_CALL_NEW_ARRAY,
    STEP_LIVE_CALL_DELETE,
    STEP_LIVE_CALL_DELETE_ARRAY,
    STEP_LIVE_CALL_MALLOCX,
    STEP_LIVE_CALL_RALLOCX,
    STEP_LIVE_CALL_DALLOCX,
    STEP_LIVE_CALL_HEAP_MALLOC, /* mi_heap_malloc and similar functions */
    STEP_LIVE_CALL_HEAP_CALLOC,
    STEP_LIVE_CALL_HEAP_REALLOC,
    STEP_LIVE_CALL_COUNT
};

/* Reserved stream numbers; those of threads' buffers start at 2. */
#define STEP_LIVE_STREAM_GLOBAL 0u /* definitions, class loads, thread starts, VM events */
#define STEP_LIVE_STREAM_FREES 1u

/* Results of step_live_recover() besides the records. */
struct step_live_report {
    uint64_t dropped;
    bool is_lost; /* records from lost_ns on may be missing, see step_live_header.lost_stamp */
    uint64_t lost_ns;
    char internals[STEP_LIVE_INTERNALS_BYTES];
};

/* Returns true if the live file exists and its process still runs, so that the trace beside it
 * grows. */
bool step_live_is_written(const char *path);

/* An event in the live file of a running trace. */
struct step_live_event {
    /* STEP_LIVE_ALLOC, EXISTING, FREE_OBJECT or ENTRY; FACT if `gave_up`, and for a begin or end of
     * a phase: `method` is its name's number, `object` enum step_live_phase; NONE for any other
     * event.  Native programs: STEP_LIVE_ALLOC, FREE_OBJECT, or STEP_LIVE_HEAP_REALLOC for a
     * realloc that keeps its address; `object` is the address, `class_` the enum
     * step_live_heap_call, `method` the record's number in the stream (of any kind). */
    uint32_t kind;
    uint64_t stream;
    uint64_t ticks;    /* time; for a free, that of the latest event before it */
    uint64_t object;   /* allocations and frees */
    uint64_t class_;   /* allocations; this and the following use the trace's identifiers */
    uint64_t size;     /* bytes */
    uint64_t stack;    /* a frame; 0: unknown */
    uint64_t thread;   /* not set for frees */
    uint64_t method;   /* entries */
    uint64_t interval; /* allocations that were sampled by another interval than the property
                        * `sample`: that interval; otherwise 0 */
    bool gave_up;      /* FACT: a sampled object was given up */
};

/* A dictionary entry in the live file, as decoded from a DEFINE record. */
struct step_live_entry {
    /* STEP_LIVE_DEFINE_CLASS, _METHOD, _THREAD, _FRAME.  A METHOD with the modifiers
     * STEP_LIVE_IS_PHASE_NAME is the name of a phase. */
    uint32_t kind;
    uint64_t number;
    struct step_bytes name;       /* not set for frames; valid until the visit returns */
    struct step_bytes descriptor; /* methods only */
    uint64_t class_, parent, method, line, bytecode, flags, modifiers, loader; /* as they apply */
};

struct step_live_look {
    void *user;
    /* Returns how many records of the stream the trace already has; these are skipped. */
    uint64_t (*written)(void *user, uint64_t stream);
    void (*visit)(void *user, const struct step_live_event *event);
    /* Called for entries before the events that name them; the trace may already have them. */
    void (*define)(void *user, const struct step_live_entry *entry);
};

/* Reads the records of a running program that have not reached its trace yet, without stopping it.
 * Each chunk is read as far as it is filled at that moment, some later than others; chunks that are
 * recycled meanwhile are skipped.  Sets `*dropped` to the number of records dropped so far for lack
 * of room.  NOT_FOUND: the file does not exist. */
enum step_status step_live_peek(const char *path, const struct step_live_look *look,
                                uint64_t *dropped, struct step_error *error);

/* Writes every record of the live file that the trace lacks to `writer`, whose streams and
 * dictionaries were resumed at the trace's counts.  BUSY: the traced process still runs. */
enum step_status step_live_recover(const char *path, struct step_writer *writer,
                                   struct step_live_report *report, struct step_error *error);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
