/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Iterates over the records of a trace without its blocks and streams: the consumer of the STEP
 * paper's figure 3b.  A selection restricts the record types.
 *
 * Used by one thread at a time, like the underlying reader.
 */
#ifndef STEPTRACE_RECORDS_H
#define STEPTRACE_RECORDS_H

#include "steptrace/definition.h"
#include "steptrace/maps.h"
#include "steptrace/reader.h"

/* The declarations below are exported by the shared library. */
#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

struct step_selection;

/* Selects records by name: absolute names ("jvm.Event"), or unambiguous last parts ("Event").  Each
 * name includes all records that extend it.  No names: all records.  With `maps`, also records that
 * a `map` attribute converts to a selected one (steptrace/maps.h).  NOT_FOUND: no such record;
 * INVALID: the name is ambiguous. */
enum step_status step_selection_create(const struct step_definition *definition,
                                       const char *const *names, size_t name_count, bool maps,
                                       struct step_selection **out, struct step_error *error);
void step_selection_destroy(struct step_selection *selection);

/* Returns one byte for each record of the definition, as step_reader_load() expects. */
const uint8_t *step_selection_wanted(const struct step_selection *selection);

/* Sets `*out` to the record as its selected type: itself, or its conversion by a map (whose slots
 * live until the next call).  Returns false if it is not selected. */
bool step_selection_view(struct step_selection *selection, const struct step_record_view *view,
                         struct step_record_view *out);

struct step_records;

/* Iterates over all selected records of the reader (`selection` NULL: all; both are borrowed).
 * Streams are merged by the field with `<property:"time">`, at equal times by their numbers; each
 * stream keeps its order. */
enum step_status step_records_create(struct step_reader *reader, struct step_selection *selection,
                                     struct step_records **out, struct step_error *error);
void step_records_destroy(struct step_records *records);

/* The record at the front of a stream.  `queue` numbers the streams from 0 to
 * step_records_queue_count() - 1. */
struct step_records_front {
    size_t queue;
    uint64_t stream;
    uint64_t time;
    uint8_t rank; /* order at equal times: lower ranks first, then lower streams */
    struct step_record_view view;
};

/* Callbacks that change selection and order.  A NULL member keeps the behaviour of
 * step_records_create(). */
struct step_records_rules {
    void *user;
    /* Returns what to decode of a block, for step_reader_load(); NULL skips the block. */
    const uint8_t *(*wanted)(void *user, const struct step_block_info *info);
    /* Sets time and rank of a record that reached the front.  Returns false to skip it. */
    bool (*front)(void *user, struct step_records_front *front);
    /* Returns true if the front must wait for records of other streams with the same time and rank.
     * It is called again after each record; if all fronts wait, the first one proceeds. */
    bool (*waits)(void *user, const struct step_records_front *front);
};
/* Iterates over all records of the reader by these rules, which are copied. */
enum step_status step_records_create_ordered(struct step_reader *reader,
                                             const struct step_records_rules *rules,
                                             struct step_records **out, struct step_error *error);

/* Returns the next record, or END.  Its slots live until the next call.  Damaged blocks are skipped
 * (see step_reader_damage()). */
enum step_status step_records_next(struct step_records *records, struct step_record_view *view,
                                   struct step_error *error);
/* Returns the next record without applying the selection.  It lives until the next call. */
enum step_status step_records_next_front(struct step_records *records,
                                         const struct step_records_front **front,
                                         struct step_error *error);

/* Records of one type that follow each other in a stream, as columns: slot `k` of record `i` is
 * slots[k].values[i * slots[k].step]. */
#define STEP_RUN_SLOTS 8
struct step_records_run {
    uint32_t record;
    size_t count;
    struct {
        const uint64_t *values;
        size_t step; /* 0: all records have the same value */
    } slots[STEP_RUN_SLOTS];
};
/* Takes the records after the one that step_records_next_front() returned last, as long as they
 * are of its type and come next: at most `most`, and none whose stream may have to stand back.
 * Returns how many there are; the next call of step_records_next_front() returns the one after
 * them.  Without a run (0) the record itself comes next.  The callback `front` is not called for
 * them: their time is that of the property "time", without which, or with more than STEP_RUN_SLOTS
 * slots, there is no run.  `waits`: a record of that type may have to wait
 * for others.  The values live until the next call. */
size_t step_records_next_run(struct step_records *records, bool waits, size_t most,
                             struct step_records_run *run);
/* Returns the next record like step_records_next(), but reports damage as an error, after which the
 * caller may continue.  Each damaged place gives CORRUPT once, with file, offset and reason, when
 * it is reached (those found by opening: first).  A trace that its writer did not close gives CUT
 * once at its end.  The next call continues behind the damage.  The functions that `stepc --c`
 * generates use this. */
enum step_status step_records_next_checked(struct step_records *records,
                                           struct step_record_view *view, struct step_error *error);
/* Returns the stream of the last record. */
uint64_t step_records_stream(const struct step_records *records);
/* Returns the number of streams. */
size_t step_records_queue_count(const struct step_records *records);
/* Reports progress: the stored bytes of the finished blocks, and of all blocks. */
void step_records_progress(const struct step_records *records, uint64_t *done, uint64_t *all);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
