/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records of a trace, one after the other, without its blocks and streams: the consumer of the
 * STEP paper's figure 3b.  A selection says which records a reader asks for.
 *
 * One thread at a time, as the reader that they are made of.
 */
#ifndef STEPTRACE_RECORDS_H
#define STEPTRACE_RECORDS_H

#include "steptrace/definition.h"
#include "steptrace/maps.h"
#include "steptrace/reader.h"

/* What follows is what the shared library exports. */
#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

struct step_selection;

/* Asks for records by their names, absolute ones ("jvm.Event") or the last parts of ones that are
 * the only such ("Event"); each means all records that extend it as well.  No names: everything.
 * With `maps`, also those that a `map` attribute turns into one that is asked for
 * (steptrace/maps.h). NOT_FOUND and INVALID: no record, or several, are called so. */
enum step_status step_selection_create(const struct step_definition *definition,
                                       const char *const *names, size_t name_count, bool maps,
                                       struct step_selection **out, struct step_error *error);
void step_selection_destroy(struct step_selection *selection);

/* A byte for each record of the definition, as step_reader_load() wants them. */
const uint8_t *step_selection_wanted(const struct step_selection *selection);

/* The record as what was asked for: itself, or what its map makes of it (then its slots live until
 * the next call).  False if it is not wanted. */
bool step_selection_view(struct step_selection *selection, const struct step_record_view *view,
                         struct step_record_view *out);

struct step_records;

/* All wanted records of the reader (`selection` NULL: all; both are borrowed).  Streams are merged
 * by the field with `<property:"time">`, at equal times by their numbers; a stream keeps its order.
 */
enum step_status step_records_create(struct step_reader *reader, struct step_selection *selection,
                                     struct step_records **out, struct step_error *error);
void step_records_destroy(struct step_records *records);

/* The record at the front of a stream.  A stream is known by a number from 0 to
 * step_records_queue_count() - 1, its queue. */
struct step_records_front {
    size_t queue;
    uint64_t stream;
    uint64_t time;
    uint8_t rank; /* of records of one time the lower goes first, then the lower stream */
    struct step_record_view view;
};

/* An order and a choice of a reader's own.  What is NULL is as above. */
struct step_records_rules {
    void *user;
    /* What is wanted of a block, as step_reader_load() takes it; NULL: nothing, it is passed over.
     */
    const uint8_t *(*wanted)(void *user, const struct step_block_info *info);
    /* Sets time and rank of a record that has come to the front.  False: it is passed over. */
    bool (*front)(void *user, struct step_records_front *front);
    /* Must the front wait for what other streams of its time and rank have?  It is asked again
     * after each record; where all wait, the first goes on. */
    bool (*waits)(void *user, const struct step_records_front *front);
};
/* All records of the reader, by these rules, which are copied. */
enum step_status step_records_create_ordered(struct step_reader *reader,
                                             const struct step_records_rules *rules,
                                             struct step_records **out, struct step_error *error);

/* The next record, or END.  Its slots live until the next call.  Damaged blocks are passed over
 * (step_reader_damage() tells of them). */
enum step_status step_records_next(struct step_records *records, struct step_record_view *view,
                                   struct step_error *error);
/* The same without the selection; what it gives lives until the next call. */
enum step_status step_records_next_front(struct step_records *records,
                                         const struct step_records_front **front,
                                         struct step_error *error);
/* The same, but damage is an error that stops a reader unless it goes on: CORRUPT, with the file,
 * the offset and what is wrong, once for each damaged place when it is come to (those that opening
 * found: at once), and CUT once at the end of a trace whose writer did not close it.  The call
 * after that goes on behind it.  The functions that `stepc --c` generates use this. */
enum step_status step_records_next_checked(struct step_records *records,
                                           struct step_record_view *view, struct step_error *error);
/* The stream of the record that step_records_next() gave last. */
uint64_t step_records_stream(const struct step_records *records);
/* How many streams there are. */
size_t step_records_queue_count(const struct step_records *records);
/* Stored bytes of the blocks done, of all of them: how far one is. */
void step_records_progress(const struct step_records *records, uint64_t *done, uint64_t *all);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
