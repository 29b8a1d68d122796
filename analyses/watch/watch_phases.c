/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the spans of phases, and follows the phases of threads. */
#include "analyses/watch/watch_feed.h"

#include <stdlib.h>
#include <string.h>

#include "converter/containers/no_memory.h"
#include "converter/step/phase_spans.h"
#include "format/core/grow.h"

/* ---- spans of time ---- */

struct cover {
    uint64_t begin_ns, end_ns; /* both included */
};

/* In order of time and disjoint once it was joined. */
struct cover_list {
    struct cover *items;
    size_t count, capacity;
};

struct phase_covers {
    struct cover_list wanted, unwanted;
};

static bool add_cover(struct cover_list *list, const struct trace_phase *phase)
{
    if (!STEP_MAKE_ROOM(list->items, list->capacity, list->count + 1))
        return false;
    list->items[list->count++] = (struct cover){phase->begin_ns, phase->end_ns};
    return true;
}

static int by_begin(const void *left, const void *right)
{
    const struct cover *a = left, *b = right;
    return (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

static void join_covers(struct cover_list *list)
{
    size_t kept = 0;
    if (list->count > 1)
        qsort(list->items, list->count, sizeof *list->items, by_begin);
    for (size_t i = 0; i < list->count; i++) {
        struct cover *last = kept > 0 ? &list->items[kept - 1] : NULL;
        if (last != NULL && list->items[i].begin_ns <= last->end_ns)
            last->end_ns =
                list->items[i].end_ns > last->end_ns ? list->items[i].end_ns : last->end_ns;
        else
            list->items[kept++] = list->items[i];
    }
    list->count = kept;
}

static bool is_covered(const struct cover_list *list, uint64_t time_ns)
{
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->items[middle].begin_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && time_ns <= list->items[low - 1].end_ns;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static bool same_until(const struct cover_list *a, const struct cover_list *b, uint64_t until_ns)
{
    for (size_t i = 0;; i++) {
        bool has_a = i < a->count && a->items[i].begin_ns <= until_ns;
        bool has_b = i < b->count && b->items[i].begin_ns <= until_ns;
        if (!has_a || !has_b)
            return has_a == has_b;
        if (a->items[i].begin_ns != b->items[i].begin_ns ||
            least(a->items[i].end_ns, until_ns) != least(b->items[i].end_ns, until_ns))
            return false;
    }
}

static bool differ_until(const struct id_table *a, const struct id_table *b, uint64_t until_ns)
{
    static const struct phase_covers none;
    for (uint32_t id = 0; id_table_next(a, &id); id++) {
        const struct phase_covers *one = id_table_find(a, id), *other = id_table_find(b, id);
        if (other == NULL)
            other = &none;
        if (!same_until(&one->wanted, &other->wanted, until_ns) ||
            !same_until(&one->unwanted, &other->unwanted, until_ns))
            return true;
    }
    return false;
}

static void reset_covers(struct id_table *covers)
{
    for (uint32_t id = 0; id_table_next(covers, &id); id++) {
        struct phase_covers *of = id_table_find(covers, id);
        free(of->wanted.items);
        free(of->unwanted.items);
    }
    id_table_reset(covers);
}

/* ---- life cycle ---- */

void watch_phases_init(struct watch_phases *phases, const struct selected_globs *globs)
{
    *phases = (struct watch_phases){.records = 0};
    open_phases_init(&phases->open, globs);
    id_table_init(&phases->covers, sizeof(struct phase_covers));
}

void watch_phases_reset(struct watch_phases *phases)
{
    if (phases->open.globs == NULL)
        return;
    open_phases_reset(&phases->open);
    reset_covers(&phases->covers);
    free(phases->marks);
    phases->marks = NULL;
}

bool watch_phases_select(struct watch_phases *phases, const struct trace_names *names)
{
    const struct selected_globs *globs = phases->open.globs;
    bool ok = true;
    open_phases_reset(&phases->open);
    open_phases_init(&phases->open, globs);
    for (uint32_t id = 0; ok && id_table_next(&names->phases, &id); id++) {
        const struct trace_phase_name *name = id_table_find(&names->phases, id);
        ok = !name->known || open_phases_name(&phases->open, id, name->name);
    }
    phases->records = 0; /* reads the spans again */
    return ok;
}

void watch_phases_restart(struct watch_phases *phases)
{
    id_table_reset(&phases->open.threads);
    id_table_init(&phases->open.threads, sizeof(struct phase_counts));
}

/* ---- names and marks ---- */

bool watch_phases_name(struct watch_phases *phases, struct trace_names *names, uint32_t number,
                       struct step_bytes name)
{
    struct trace_phase_name *known = id_table_get(&names->phases, number);
    if (known == NULL)
        return false;
    if (known->known)
        return true;
    *known = (struct trace_phase_name){name, true};
    return open_phases_name(&phases->open, number, name);
}

static bool take_names(struct watch_phases *phases, struct watch_tail *tail)
{
    const struct java_records *java = &tail->decoder.java;
    uint64_t count = java_entry_count(java, STEP_JAVA_PHASE_NAME);
    bool ok = true;
    for (uint64_t id = phases->names_read + 1; ok && id <= count && id < UINT32_MAX; id++) {
        struct step_java_phase_name entry;
        if (step_java_phase_name_look_up(&java->binding, java->reader, id, &entry))
            ok = watch_phases_name(phases, &tail->names, (uint32_t) id, entry.name);
    }
    phases->names_read = count;
    return ok;
}

bool watch_phases_mark(struct watch_phases *phases, const struct watch_mark *mark)
{
    if (!STEP_MAKE_ROOM(phases->marks, phases->mark_capacity, phases->mark_count + 1))
        return false;
    phases->marks[phases->mark_count++] = *mark;
    return true;
}

void watch_phases_begin_marks(struct watch_phases *phases)
{
    phases->had_marks = phases->mark_count > 0;
    phases->mark_count = 0;
}

static int by_time(const void *left, const void *right)
{
    const struct watch_mark *a = left, *b = right;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return (int) b->begins - (int) a->begins;
}

/* ---- all phases ---- */

struct total {
    uint64_t phases, total_ns;
    bool of_program;
};

struct pass {
    struct watch_phases *phases;
    const struct trace_names *names;
    trace_phase_visit visit;
    struct trace_phase *open; /* phases of the program */
    size_t open_count, open_capacity;
    struct id_table covers; /* struct phase_covers */
    struct id_table totals; /* struct total, by name */
};

static bool push_open(struct pass *pass, const struct trace_phase *phase)
{
    if (!STEP_MAKE_ROOM(pass->open, pass->open_capacity, pass->open_count + 1))
        return false;
    pass->open[pass->open_count++] = *phase;
    return true;
}

/* Continues the open phases with the live file's marks.  An end without its begin is ignored. */
static enum step_status visit_mark(struct pass *pass, const struct watch_mark *mark)
{
    size_t at = pass->open_count;
    const struct trace_phase begun = {
        .number = mark->name, .of_program = true, .begin_ns = mark->time_ns, .end_ns = UINT64_MAX};
    if (mark->begins)
        return push_open(pass, &begun) ? STEP_STATUS_OK : STEP_STATUS_NO_MEMORY;
    while (at > 0 && pass->open[at - 1].number != mark->name)
        at--;
    if (at == 0)
        return STEP_STATUS_OK;
    struct trace_phase ended = pass->open[at - 1];
    ended.end_ns = mark->time_ns;
    memmove(&pass->open[at - 1], &pass->open[at], (pass->open_count - at) * sizeof *pass->open);
    pass->open_count--;
    return pass->visit(pass, &ended);
}

static enum step_status visit_phases(struct pass *pass, const struct java_records *java,
                                     struct step_error *error)
{
    struct phase_spans spans;
    struct trace_phase phase;
    enum step_status status = phase_spans_open(&spans, java, error);
    pass->open_count = 0;
    while (status == STEP_STATUS_OK &&
           (status = phase_spans_next(&spans, &phase, error)) == STEP_STATUS_OK)
        if (!phase.of_program || phase.end_ns != UINT64_MAX)
            status = pass->visit(pass, &phase);
        else if (!push_open(pass, &phase))
            status = STEP_STATUS_NO_MEMORY;
    phase_spans_reset(&spans);
    status = status == STEP_STATUS_END ? STEP_STATUS_OK : status;
    for (size_t i = 0; status == STEP_STATUS_OK && i < pass->phases->mark_count; i++)
        status = visit_mark(pass, &pass->phases->marks[i]);
    for (size_t i = 0; status == STEP_STATUS_OK && i < pass->open_count; i++)
        status = pass->visit(pass, &pass->open[i]);
    return status == STEP_STATUS_NO_MEMORY ? no_memory(error) : status;
}

static uint64_t watch_phases_end_of(const struct watch_phases *phases,
                                    const struct trace_phase *phase)
{
    uint64_t end_ns = least(phase->end_ns, phases->until_ns);
    return end_ns > phase->begin_ns ? end_ns : phase->begin_ns;
}

/* Returns true if the phase's events and marks are in one stream. */
static bool is_of_stream(const struct trace_names *names, const struct trace_phase *phase)
{
    uint64_t flags = trace_thread_of(names, phase->thread_id)->flags;
    return !phase->of_program && (flags & TRACE_THREAD_VIRTUAL) == 0;
}

static enum step_status count_phase(void *user, const struct trace_phase *phase)
{
    struct pass *pass = user;
    const struct phase_counts *one = id_table_find(&pass->phases->open.names, phase->number);
    struct total *total = id_table_get(&pass->totals, phase->number);
    if (total == NULL)
        return STEP_STATUS_NO_MEMORY;
    total->phases++;
    total->total_ns += watch_phases_end_of(pass->phases, phase) - phase->begin_ns;
    total->of_program = total->of_program || phase->of_program;
    if (one == NULL || one->wanted + one->unwanted == 0 || is_of_stream(pass->names, phase))
        return STEP_STATUS_OK;
    struct phase_covers *covers =
        id_table_get(&pass->covers, phase->of_program ? 0 : phase->thread_id);
    bool ok = covers != NULL && (one->wanted == 0 || add_cover(&covers->wanted, phase)) &&
              (one->unwanted == 0 || add_cover(&covers->unwanted, phase));
    return ok ? STEP_STATUS_OK : STEP_STATUS_NO_MEMORY;
}

/* ---- bands ---- */

/* Phases of the program first, then the longest. */
static bool goes_before(const struct total *total, const struct watch_band *band)
{
    return total->of_program != band->of_program ? total->of_program
                                                 : total->total_ns > band->total_ns;
}

static void watch_phases_put_band(struct watch_phases *phases, uint32_t number,
                                  const struct total *total)
{
    size_t at = phases->band_count;
    while (at > 0 && goes_before(total, &phases->bands[at - 1]))
        at--;
    if (at == WATCH_BANDS)
        return;
    phases->band_count += phases->band_count < WATCH_BANDS;
    memmove(&phases->bands[at + 1], &phases->bands[at],
            (phases->band_count - at - 1) * sizeof phases->bands[0]);
    phases->bands[at] = (struct watch_band){.number = number,
                                            .phases = total->phases,
                                            .total_ns = total->total_ns,
                                            .of_program = total->of_program};
}

static size_t step_of(const struct watch_phases *phases, double time_ns)
{
    double step = time_ns / ((double) phases->until_ns + 1) * WATCH_BAND_STEPS;
    return step < WATCH_BAND_STEPS ? (size_t) step : WATCH_BAND_STEPS - 1;
}

static enum step_status mark_steps(void *user, const struct trace_phase *phase)
{
    struct watch_phases *phases = ((struct pass *) user)->phases;
    for (size_t i = 0; i < phases->band_count; i++) {
        if (phases->bands[i].number != phase->number)
            continue;
        size_t first = step_of(phases, (double) phase->begin_ns);
        memset(&phases->bands[i].steps[first], 1,
               step_of(phases, (double) watch_phases_end_of(phases, phase)) - first + 1);
    }
    return STEP_STATUS_OK;
}

bool watch_band_covers(const struct watch_phases *phases, const struct watch_band *band,
                       double from_ns, double to_ns)
{
    size_t last = step_of(phases, to_ns > from_ns ? to_ns : from_ns);
    for (size_t i = step_of(phases, from_ns); i <= last; i++)
        if (band->steps[i] != 0)
            return true;
    return false;
}

static enum step_status make_bands(struct pass *pass, const struct java_records *java,
                                   struct step_error *error)
{
    struct watch_phases *phases = pass->phases;
    phases->band_count = 0;
    for (uint32_t id = 0; id_table_next(&pass->totals, &id); id++) {
        const struct total *total = id_table_find(&pass->totals, id);
        if (total->phases > 0)
            watch_phases_put_band(phases, id, total);
    }
    pass->visit = mark_steps;
    return phases->band_count > 0 ? visit_phases(pass, java, error) : STEP_STATUS_OK;
}

/* ---- at each look ---- */

static uint64_t watch_phases_count_records(const struct java_records *java)
{
    uint64_t count = 0;
    for (size_t i = 0; i < step_reader_block_count(java->reader); i++) {
        const struct step_block_info *info = step_reader_block_info(java->reader, i);
        for (size_t j = 0; j < info->type_count; j++)
            if (java_is_phase(java_kind_of(java, info->counts[j].record)))
                count += info->counts[j].count;
    }
    return count;
}

static enum step_status read_phases(struct watch_phases *phases, struct watch_tail *tail,
                                    uint64_t read_ns, bool *changed, struct step_error *error)
{
    struct pass pass = {.phases = phases, .names = &tail->names, .visit = count_phase};
    id_table_init(&pass.covers, sizeof(struct phase_covers));
    id_table_init(&pass.totals, sizeof(struct total));
    enum step_status status = visit_phases(&pass, &tail->decoder.java, error);
    for (uint32_t id = 0; id_table_next(&pass.covers, &id); id++) {
        struct phase_covers *covers = id_table_find(&pass.covers, id);
        join_covers(&covers->wanted);
        join_covers(&covers->unwanted);
    }
    if (status == STEP_STATUS_OK)
        status = make_bands(&pass, &tail->decoder.java, error);
    *changed = differ_until(&phases->covers, &pass.covers, read_ns) ||
               differ_until(&pass.covers, &phases->covers, read_ns);
    reset_covers(&phases->covers);
    phases->covers = pass.covers;
    id_table_reset(&pass.totals);
    free(pass.open);
    return status;
}

/* Threads are named at their first event, but whether one is virtual is asked here. */
static void name_threads(struct watch_phases *phases, struct watch_tail *tail)
{
    uint64_t count = java_entry_count(&tail->decoder.java, STEP_JAVA_THREAD);
    for (uint64_t id = phases->threads_read + 1; id <= count && id < UINT32_MAX; id++)
        if (!trace_thread_of(&tail->names, (uint32_t) id)->known)
            stepfile_decoder_name(&tail->decoder, STEP_JAVA_THREAD, (uint32_t) id);
    phases->threads_read = count;
}

enum step_status watch_phases_refresh(struct watch_phases *phases, struct watch_tail *tail,
                                      uint64_t read_ns, bool *changed, struct step_error *error)
{
    *changed = false;
    if (!take_names(phases, tail))
        return no_memory(error);
    uint64_t records = watch_phases_count_records(&tail->decoder.java);
    bool has_grown = records != phases->records || phases->mark_count > 0 || phases->had_marks;
    bool is_new_time = phases->band_count > 0 && phases->until_ns != tail->last_ns;
    if (!has_grown && !is_new_time)
        return STEP_STATUS_OK;
    if (phases->mark_count > 1)
        qsort(phases->marks, phases->mark_count, sizeof *phases->marks, by_time);
    if (watch_phases_are_selected(phases))
        name_threads(phases, tail);
    phases->records = records;
    phases->until_ns = tail->last_ns;
    return read_phases(phases, tail, read_ns, changed, error);
}

/* ---- at each event ---- */

bool watch_phases_put(struct watch_phases *phases, const struct trace_names *names,
                      const struct step_java_phase *mark, bool begins)
{
    const struct trace_phase phase = {.thread_id = java_id(mark->thread),
                                      .of_program = mark->scope != 0};
    return !is_of_stream(names, &phase) ||
           open_phases_put(&phases->open, phase.thread_id, java_id(mark->name), false, begins);
}

static void count_covers(struct phase_counts *counts, const struct id_table *covers, uint32_t id,
                         uint64_t time_ns)
{
    const struct phase_covers *of = id_table_find(covers, id);
    counts->wanted += of != NULL && is_covered(&of->wanted, time_ns);
    counts->unwanted += of != NULL && is_covered(&of->unwanted, time_ns);
}

bool watch_phases_accept(struct watch_phases *phases, uint32_t thread_id, uint64_t time_ns)
{
    phases->open.program = (struct phase_counts){0, 0};
    count_covers(&phases->open.program, &phases->covers, 0, time_ns);
    if (thread_id != 0)
        count_covers(&phases->open.program, &phases->covers, thread_id, time_ns);
    return open_phases_accept(&phases->open, thread_id);
}
