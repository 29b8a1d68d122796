/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An external merge sort.
 *
 * A death may be earlier than all deaths that were found before it, so none can be written until
 * the last is known.  A long trace has more of them than memory should hold.  Full buffers are
 * sorted and written as runs to an unnamed file; at the end, a heap of the runs gives the least
 * death again and again.  Each death is written once and read once, whatever their number.
 */
#include "converter/graph/death_runs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "converter/containers/no_memory.h"
#include "converter/files/spool.h"
#include "format/core/grow.h"

/* A buffer of 2^20 deaths takes 32 MiB. LEAST_READ keeps reads of many runs from becoming single
 * deaths. */
enum { BUFFER_DEATHS = 1 << 20, LEAST_READ = 64 };

struct death_run {
    uint64_t first; /* number of its first death in the file that was not read yet */
    uint64_t count; /* number of deaths not read yet */
    struct dated_death *read;
    size_t read_count, at;
};

/* The object decides at equal times: the result must not depend on how deaths are spread over
 * runs. */
static int death_runs_compare(const void *a, const void *b)
{
    const struct dated_death *first = a, *second = b;
    if (first->time != second->time)
        return first->time < second->time ? -1 : 1;
    return (first->object > second->object) - (first->object < second->object);
}

void death_runs_init(struct death_runs *runs, size_t most)
{
    *runs = (struct death_runs){.most = most > 0 ? most : BUFFER_DEATHS};
}

void death_runs_reset(struct death_runs *runs)
{
    for (size_t i = 0; i < runs->run_count; i++)
        free(runs->runs[i].read);
    if (runs->spool != NULL)
        fclose(runs->spool);
    free(runs->runs);
    free(runs->heap);
    free(runs->buffer);
    *runs = (struct death_runs){0};
}

static enum step_status spool_fault(struct step_error *error)
{
    return step_error_set(error, STEP_STATUS_IO, NULL, STEP_NO_OFFSET, "a temporary file: %s",
                          strerror(errno));
}

static void sort(struct death_runs *runs)
{
    if (runs->count > 0)
        qsort(runs->buffer, runs->count, sizeof *runs->buffer, death_runs_compare);
}

static enum step_status write_run(struct death_runs *runs, struct step_error *error)
{
    if (runs->spool == NULL && (runs->spool = spool_stream()) == NULL)
        return spool_fault(error);
    if (!STEP_MAKE_ROOM(runs->runs, runs->run_capacity, runs->run_count + 1))
        return no_memory(error);
    sort(runs);
    const struct death_run *last = runs->run_count > 0 ? &runs->runs[runs->run_count - 1] : NULL;
    runs->runs[runs->run_count++] = (struct death_run){
        .first = last != NULL ? last->first + last->count : 0, .count = runs->count};
    if (fwrite(runs->buffer, sizeof *runs->buffer, runs->count, runs->spool) != runs->count)
        return spool_fault(error);
    runs->count = 0;
    return STEP_STATUS_OK;
}

enum step_status death_runs_put(struct death_runs *runs, const struct dated_death *death,
                                struct step_error *error)
{
    enum step_status status = STEP_STATUS_OK;
    if (runs->count >= runs->most)
        status = write_run(runs, error);
    if (status != STEP_STATUS_OK)
        return status;
    if (!STEP_MAKE_ROOM(runs->buffer, runs->capacity, runs->count + 1))
        return no_memory(error);
    runs->buffer[runs->count++] = *death;
    return STEP_STATUS_OK;
}

/* ---- merging ---- */

/* Refills the buffer of a run.  The runs share the memory that the one buffer had while deaths were
 * added (it is freed before), so merging needs no more than adding did. */
static enum step_status read_more(struct death_runs *runs, struct death_run *run,
                                  struct step_error *error)
{
    size_t most = runs->most / (runs->run_count + 1);
    size_t wanted = most > LEAST_READ ? most : LEAST_READ;
    if (run->read == NULL && (run->read = malloc(wanted * sizeof *run->read)) == NULL)
        return no_memory(error);
    if (wanted > run->count)
        wanted = (size_t) run->count;
    run->at = 0;
    run->read_count = wanted;
    if (wanted == 0)
        return STEP_STATUS_OK;
    if (fseeko(runs->spool, (off_t) (run->first * sizeof *run->read), SEEK_SET) != 0 ||
        fread(run->read, sizeof *run->read, wanted, runs->spool) != wanted)
        return spool_fault(error);
    run->first += wanted;
    run->count -= wanted;
    return STEP_STATUS_OK;
}

static bool is_before(const struct death_runs *runs, size_t a, size_t b)
{
    const struct death_run *first = &runs->runs[a], *second = &runs->runs[b];
    return death_runs_compare(&first->read[first->at], &second->read[second->at]) < 0;
}

/* Restores the heap below `at`. The heap has numbers of runs; a run's key is its next death, so the
 * key changes when the death is taken, and the run sinks from the top. */
static void death_runs_sift_down(struct death_runs *runs, size_t at)
{
    size_t moved = runs->heap[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= runs->heap_count)
            break;
        if (child + 1 < runs->heap_count &&
            is_before(runs, runs->heap[child + 1], runs->heap[child]))
            child++;
        if (!is_before(runs, runs->heap[child], moved))
            break;
        runs->heap[at] = runs->heap[child];
        at = child;
    }
    runs->heap[at] = moved;
}

/* Ends adding.  Without a file the sorted buffer is the result.  Otherwise the rest becomes the
 * last run, which leaves one way to read them, and each run gets its buffer and a place in the
 * heap. */
enum step_status death_runs_finish(struct death_runs *runs, struct step_error *error)
{
    enum step_status status = STEP_STATUS_OK;
    if (runs->spool == NULL) {
        sort(runs);
        return status;
    }
    status = write_run(runs, error);
    free(runs->buffer);
    runs->buffer = NULL;
    runs->heap = malloc(runs->run_count * sizeof *runs->heap);
    if (status == STEP_STATUS_OK && runs->heap == NULL)
        status = no_memory(error);
    for (size_t i = 0; i < runs->run_count && status == STEP_STATUS_OK; i++) {
        status = read_more(runs, &runs->runs[i], error);
        if (status == STEP_STATUS_OK && runs->runs[i].read_count > 0)
            runs->heap[runs->heap_count++] = i;
    }
    for (size_t i = runs->heap_count / 2; status == STEP_STATUS_OK && i-- > 0;)
        death_runs_sift_down(runs, i);
    return status;
}

const struct dated_death *death_runs_peek(const struct death_runs *runs)
{
    if (runs->spool == NULL)
        return runs->at < runs->count ? &runs->buffer[runs->at] : NULL;
    if (runs->heap_count == 0)
        return NULL;
    const struct death_run *run = &runs->runs[runs->heap[0]];
    return &run->read[run->at];
}

enum step_status death_runs_next(struct death_runs *runs, struct step_error *error)
{
    if (runs->spool == NULL) {
        runs->at += runs->at < runs->count;
        return STEP_STATUS_OK;
    }
    if (runs->heap_count == 0)
        return STEP_STATUS_OK;
    struct death_run *run = &runs->runs[runs->heap[0]];
    if (++run->at == run->read_count) {
        enum step_status status = read_more(runs, run, error);
        if (status != STEP_STATUS_OK)
            return status;
        if (run->read_count == 0)
            runs->heap[0] = runs->heap[--runs->heap_count];
    }
    if (runs->heap_count > 0)
        death_runs_sift_down(runs, 0);
    return STEP_STATUS_OK;
}
