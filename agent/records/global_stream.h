/* SPDX-License-Identifier: Apache-2.0 */
/* The session's global stream: definitions, classes, threads, rare records. Writers hold the
 * session's global_lock. */
#ifndef AGENT_RECORDS_GLOBAL_STREAM_H
#define AGENT_RECORDS_GLOBAL_STREAM_H

#include "agent/base/hash_numbers.h"
#include "agent/base/tracer.h"

/* Writes words to the global stream, stamped now if `kind` has a stamp. The caller holds the
 * lock. */
void global_write(struct session *session, const uint64_t *words, size_t count, unsigned events);
/* Writes one event record: kind, stamp and a word. */
void global_event(struct session *session, enum step_live_kind kind, uint64_t word, size_t words);

/* Converts the JVM's modified UTF-8 to UTF-8 (an unpaired surrogate keeps its three bytes). `out`
 * has room for strlen(text) bytes. Returns the length. */
size_t utf8_of_modified(const char *text, char *out);

/* What the dictionary of a session has besides methods: numbers by hash. */
struct session_dictionary {
    pthread_mutex_t lock;
    uint64_t session; /* the session that the table belongs to */
    _Atomic uint64_t count;
    struct hash_numbers numbers;
};
/* The caller holds the lock. Returns the number of what has that hash, which global_define()
 * defines at first use; 0: that failed. */
uint64_t dictionary_number(struct session_dictionary *dictionary, struct session *session,
                           uint64_t hash, uint64_t class, uint64_t kind, const char *name,
                           const char *more);
/* The caller holds the lock. Adds the class. Returns false if it was there, or out of memory. */
bool dictionary_add_class(struct session_dictionary *dictionary, const struct session *session,
                          uint64_t class);
/* Writes an entry (STEP_LIVE_DEFINE_METHOD) with the texts, modified UTF-8, and returns its number:
 * *count, incremented under the session's global_lock, which the caller does not hold. 0: out of
 * memory, or the texts are too long. The name of a phase is cut to 65,536 bytes. */
uint64_t global_define(struct session *session, _Atomic uint64_t *count, uint64_t class,
                       uint64_t kind, const char *name, const char *more);
/* Returns `head` words of zeros and the texts in UTF-8 behind them, allocated, and sets the texts'
 * lengths. NULL: out of memory, or there are more than `most` bytes. */
uint64_t *words_with_texts(size_t head, const char *const *texts, size_t count, size_t most,
                           uint64_t *lengths);
/* Cuts UTF-8 of more than 65,536 bytes before a character and ends it with three dots and zeros up
 * to a multiple of 8 bytes. Returns the length. */
size_t utf8_cut(char *text, size_t length);

/* Facts: rare records that are not events of the program (STEP_LIVE_FACT). */

enum rare_missing { FACT_METHOD_EVENTS = 1, FACT_ALLOCATIONS = 2, FACT_STORES = 4 };

/* The fact that a method, or a class if `method_name` is empty, has no probes. */
struct fact {
    struct fact *next; /* for lists of the caller */
    size_t payload_bytes;
    uint64_t words[];
};
/* Texts are modified UTF-8. Returns NULL if out of memory, or if they are too long. */
struct fact *fact_not_probed(const char *class_name, const char *method_name,
                             const char *descriptor, const char *reason, uint64_t missing);
bool fact_equals(const struct fact *fact, const struct fact *other);
void fact_record(struct session *session, struct fact *fact);
/* Records the fact, unless the session is NULL, and frees it. NULL is no fact. */
void fact_put(struct session *session, struct fact *fact);

struct method_totals {
    uint64_t calls, exceptions, inclusive_ns, exclusive_ns;
};

/* Records the totals of all calls of a method of the session's dictionary. */
void fact_method_count(struct session *session, uint64_t method,
                       const struct method_totals *totals);

/* What engine=walk has found at a collection: of a class, and in all. */
struct eden_class_totals {
    uint64_t collection, class, objects, bytes;
    uint64_t survived, survived_bytes; /* of fact_eden_survived() */
};
struct eden_age_totals {
    uint64_t collection, class, age, objects, bytes;
};
struct eden_walk_totals {
    uint64_t collection;
    enum step_live_eden how;
    uint64_t counted_bytes, known_bytes, filler_bytes, took_ns;
};
void fact_eden_class(struct session *session, const struct eden_class_totals *totals);
/* The same, and what survived is known. */
void fact_eden_survived(struct session *session, const struct eden_class_totals *totals);
void fact_eden_age(struct session *session, const struct eden_age_totals *totals);
void fact_eden_walk(struct session *session, const struct eden_walk_totals *totals);

#endif
