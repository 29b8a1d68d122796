/* SPDX-License-Identifier: Apache-2.0 */
/* Folds and compares rows by sorting them.  Rows with one key come together, so one pass adds them
 * up, or walks over two sorted lists in parallel to subtract them.  It needs no hash table, and the
 * result does not depend on the order of the tracker's cells.  Amounts are added and subtracted
 * modulo 2^64: sizes come from the trace, and a sum that wraps is not detected. */
#include "converter/heap/heap_snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "converter/heap/heap_samples.h"

void heap_snapshot_reset(struct heap_snapshot *snapshot)
{
    free(snapshot->rows);
    free(snapshot->samples);
    free(snapshot->dumped);
    *snapshot = (struct heap_snapshot){.rows = NULL};
}

static int compare_keys(const struct heap_key *a, const struct heap_key *b)
{
    if (a->class_id != b->class_id)
        return a->class_id < b->class_id ? -1 : 1;
    if (a->site != b->site)
        return a->site < b->site ? -1 : 1;
    if (a->thread_id != b->thread_id)
        return a->thread_id < b->thread_id ? -1 : 1;
    return 0;
}

static int heap_snapshot_compare_rows(const void *left, const void *right)
{
    const struct heap_row *a = left;
    const struct heap_row *b = right;
    return compare_keys(&a->key, &b->key);
}

/* Folds in place: `last` never passes `i`, so a row is read before it is written over.  A row that
 * is added to keeps its own samples and merges those of the others into them.  Folding twice by the
 * same axes changes nothing. */
void heap_snapshot_fold(struct heap_snapshot *snapshot, unsigned axes)
{
    struct heap_row *rows = snapshot->rows;
    for (size_t i = 0; i < snapshot->count; i++) {
        rows[i].key.class_id = (axes & HEAP_BY_CLASS) != 0 ? rows[i].key.class_id : 0;
        rows[i].key.site = (axes & HEAP_BY_SITE) != 0 ? rows[i].key.site : 0;
        rows[i].key.thread_id = (axes & HEAP_BY_THREAD) != 0 ? rows[i].key.thread_id : 0;
    }
    if (snapshot->count == 0)
        return;
    qsort(rows, snapshot->count, sizeof *rows, heap_snapshot_compare_rows);
    size_t last = 0;
    for (size_t i = 1; i < snapshot->count; i++) {
        if (compare_keys(&rows[last].key, &rows[i].key) == 0) {
            heap_amount_add(&rows[last].live, &rows[i].live);
            heap_amount_add(&rows[last].allocated, &rows[i].allocated);
            heap_amount_add(&rows[last].existing, &rows[i].existing);
            if (rows[last].samples != NULL)
                heap_samples_merge(rows[last].samples, rows[i].samples);
        } else {
            rows[++last] = rows[i];
        }
    }
    snapshot->count = last + 1;
}

/* The rows are copied, since a comparison does not change its snapshots; their samples stay shared.
 */
static struct heap_row *sorted_copy(const struct heap_snapshot *snapshot)
{
    struct heap_row *rows = malloc((snapshot->count + 1) * sizeof *rows);
    if (rows == NULL)
        return NULL;
    if (snapshot->count > 0) {
        memcpy(rows, snapshot->rows, snapshot->count * sizeof *rows);
        qsort(rows, snapshot->count, sizeof *rows, heap_snapshot_compare_rows);
    }
    return rows;
}

/* Notes a row that is in one snapshot or in both, unless its amounts are the same.  `before` may be
 * the later of the two, since the user may name moments in any order; only samples depend on it. */
static void note_change(const struct heap_row *before, const struct heap_row *after, bool allocated,
                        bool is_reversed, struct heap_change *changes, size_t *count)
{
    struct heap_change change = {.key = before != NULL ? before->key : after->key};
    if (before != NULL)
        change.before = allocated ? before->allocated : before->live;
    if (after != NULL)
        change.after = allocated ? after->allocated : after->live;
    change.objects = (int64_t) (change.after.objects - change.before.objects);
    change.bytes = (int64_t) (change.after.bytes - change.before.bytes);
    change.of_objects = amount_change(change.objects, AMOUNT_OBJECTS);
    change.of_bytes = amount_change(change.bytes, AMOUNT_BYTES);
    if ((before != NULL ? before : after)->samples != NULL)
        heap_samples_compare(before, after, allocated, is_reversed, &change);
    if (change.objects != 0 || change.bytes != 0)
        changes[(*count)++] = change;
}

/* The smaller key of the two fronts is next, and if they are equal both move on.  There are at most
 * as many changes as rows, for which there is room from the start. */
bool heap_snapshot_compare(const struct heap_snapshot *before, const struct heap_snapshot *after,
                           bool allocated, struct heap_change **changes, size_t *count)
{
    struct heap_row *a = sorted_copy(before), *b = sorted_copy(after);
    *changes = malloc((before->count + after->count + 1) * sizeof **changes);
    *count = 0;
    bool is_reversed = before->time_ns > after->time_ns;
    bool ok = a != NULL && b != NULL && *changes != NULL;
    for (size_t i = 0, j = 0; ok && (i < before->count || j < after->count);) {
        int order = i == before->count  ? 1
                    : j == after->count ? -1
                                        : compare_keys(&a[i].key, &b[j].key);
        note_change(order <= 0 ? &a[i] : NULL, order >= 0 ? &b[j] : NULL, allocated, is_reversed,
                    *changes, count);
        i += order <= 0;
        j += order >= 0;
    }
    free(a);
    free(b);
    if (!ok) {
        free(*changes);
        *changes = NULL;
    }
    return ok;
}
