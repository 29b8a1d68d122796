/* SPDX-License-Identifier: Apache-2.0 */
/* What grows, and who holds it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/report/findings/findings_text.h"
#include "converter/graph/paths.h"
#include "converter/numbers/quantity.h"
#include "converter/records/record_dump.h"

#define GROWTH_LEAST (UINT64_C(64) << 10) /* over all collections */
#define GROWTH_SHARE_LEAST 0.05           /* of what was alive at the end */
#define FIT_LEAST 0.8
#define GROWTH_TRIES 4u
#define COLLECTIONS_LEAST 3u
#define SURVIVED_LEAST UINT64_C(3) /* collections, as `steptrace leaks` */

static bool is_growth(const struct leak_tracker *tracker, const struct leak_row *row)
{
    double grown = row->slope * (double) tracker->time_count;
    return row->fit >= FIT_LEAST && grown >= (double) GROWTH_LEAST &&
           grown >= GROWTH_SHARE_LEAST * (double) tracker->heap.cells.all.bytes;
}

/* Returns the row that grows most of those that grow by less than `below`, or NULL. */
static const struct leak_row *grows_most(const struct leak_tracker *tracker,
                                         const struct leak_rows *rows, double below)
{
    const struct leak_row *most = NULL;
    for (size_t i = 0; i < rows->count; i++)
        if (is_growth(tracker, &rows->rows[i]) && rows->rows[i].slope < below &&
            (most == NULL || rows->rows[i].slope > most->slope))
            most = &rows->rows[i];
    return most;
}

/* Adds the row's living objects.  Returns false if memory runs out. */
static bool find_objects(const struct leak_tracker *tracker, const struct heap_key *key,
                         struct id_set *objects)
{
    struct object_cursor cursor = {0};
    struct live_object object;
    bool is_new;
    while (object_table_next(&tracker->heap.live, &cursor, &object)) {
        const struct heap_key *of = &tracker->heap.cells.items[object.class_id].key;
        if (of->class_id == key->class_id && of->site == key->site &&
            !id_set_add(objects, object.object, &is_new))
            return false;
    }
    return true;
}

static bool is_known_root(const struct keeper_step *step)
{
    return step->class_id != GRAPH_ROOT_FRAME && step->class_id != GRAPH_ROOT_UNCOLLECTED;
}

/* Writes "; static field com.acme.Shop.open holds 600": the root, unless it is a static field with
 * the step after it, and the number of objects on the same path. */
static void put_path(const struct graph_moment *graph, const struct keeper_paths *paths,
                     const uint32_t *way, size_t count, char out[NAME_TEXT])
{
    struct keeper_name root, first = {.text = ""};
    uint64_t objects = paths->steps[way[count - 1]].objects;
    bool has_first = paths->steps[way[0]].class_id != GRAPH_ROOT_STATIC && count > 2;
    keeper_step_name(graph, &paths->steps[way[0]], &root);
    if (has_first)
        keeper_step_name(graph, &paths->steps[way[1]], &first);
    snprintf(out, NAME_TEXT, "; %.250s%s%.250s holds %s", root.text, has_first ? " through " : "",
             first.text, quantity_of_count(objects).text);
    for (char *at = out; *at != '\0'; at++)
        *at = *at == '/' ? '.' : *at;
}

/* What holds the objects of a row. */
struct holder {
    uint64_t objects;     /* that a known root holds */
    char text[NAME_TEXT]; /* the root that holds most of them */
};

static bool find_holder(const struct graph_moment *graph, const struct id_set *objects,
                        struct holder *holder)
{
    struct keeper_paths paths;
    const struct keeper_choice choice = {.objects = objects};
    bool ok = keeper_paths_find(graph, &choice, &paths);
    for (size_t i = 0; ok && i < paths.target_count; i++) {
        size_t count;
        uint32_t *way = keeper_way(&paths, paths.targets[i], &count);
        ok = way != NULL;
        if (ok && is_known_root(&paths.steps[way[0]])) {
            holder->objects += paths.steps[way[count - 1]].objects;
            if (holder->text[0] == '\0')
                put_path(graph, &paths, way, count, holder->text);
        }
        free(way);
    }
    keeper_paths_reset(&paths);
    return ok;
}

/* The graph of references at the end of a trace. */
struct end_graph {
    const struct graph_moment *graph; /* NULL: the trace has none */
    struct graph_moment own;
    struct step_reader *reader;
    struct seekable_path seekable;
};

static void end_graph_open(struct end_graph *end, const struct findings_evidence *evidence)
{
    static const struct heap_moment at_end = {.kind = HEAP_AT_END};
    struct step_error error = {.offset = STEP_NO_OFFSET};
    *end = (struct end_graph){.graph = evidence->graph};
    if (end->graph == NULL && evidence->path != NULL &&
        stepfile_open(evidence->path, NULL, &end->reader, &end->seekable, &error) ==
            STEP_STATUS_OK &&
        graph_moment_find(&end->own, end->reader, &at_end, &error) == STEP_STATUS_OK)
        end->graph = &end->own;
}

static void end_graph_close(struct end_graph *end)
{
    graph_moment_reset(&end->own);
    step_reader_destroy(end->reader);
    seekable_path_close(&end->seekable);
}

static void put_growth(const struct leak_tracker *tracker, struct heap_sites *names,
                       const struct leak_row *row, const struct holder *holder,
                       struct findings *out)
{
    char class[NAME_TEXT], at[NAME_TEXT];
    const struct heap_sites *sites = &tracker->heap.sites;
    findings_put_class(trace_class_of(sites->names, row->key.class_id)->name, class);
    findings_put_place(names, findings_place_of(sites, row->key.site, names), at);
    snprintf(findings_add(out, FINDING_GROWS)->text, FINDING_TEXT,
             "Grows: %s%s, by %s with each of %s collections; %s object%s, %s, survived three%s.",
             class, at, quantity_of_bytes(row->slope).text,
             quantity_of_count(tracker->time_count).text, quantity_of_count(row->old.objects).text,
             plural(row->old.objects), quantity_of_bytes((double) row->old.bytes).text,
             holder->text);
}

/* Puts the row that grows most.  If references are known and roots hold only a few of its objects,
 * the others are garbage that collections of the young generation leave, and it does not count. */
static bool choose_growth(const struct findings_evidence *evidence, struct heap_sites *names,
                          const struct leak_rows *rows, struct findings *out)
{
    const struct leak_row *row;
    struct end_graph end = {.graph = NULL};
    double below = INFINITY;
    bool ok = true, is_found = false;
    for (unsigned i = 0; ok && !is_found && i < GROWTH_TRIES; i++) {
        struct holder holder = {.objects = 0};
        struct id_set objects = {.last = NULL};
        if ((row = grows_most(&evidence->pass->leaks, rows, below)) == NULL)
            break;
        if (i == 0)
            end_graph_open(&end, evidence);
        if (end.graph == NULL && !evidence->pass->is_native)
            strcpy(holder.text, "; the trace does not show what holds them (record --report)");
        ok = end.graph == NULL || (find_objects(&evidence->pass->leaks, &row->key, &objects) &&
                                   find_holder(end.graph, &objects, &holder));
        id_set_reset(&objects);
        is_found = end.graph == NULL || 2 * holder.objects >= row->old.objects;
        if (ok && is_found)
            put_growth(&evidence->pass->leaks, names, row, &holder, out);
        below = row->slope;
    }
    end_graph_close(&end);
    return ok;
}

bool findings_find_growth(const struct findings_evidence *evidence, struct heap_sites *names,
                          struct findings *out)
{
    const struct leak_limits limits = {.survived = SURVIVED_LEAST};
    const struct leak_tracker *tracker = &evidence->pass->leaks;
    struct suppressions none = {NULL, 0};
    struct leak_rows rows;
    if (tracker->time_count < COLLECTIONS_LEAST)
        return true;
    bool ok = leak_rows_make(tracker, &limits, HEAP_BY_CLASS | HEAP_BY_SITE, &none, &rows) &&
              choose_growth(evidence, names, &rows, out);
    leak_rows_reset(&rows);
    return ok;
}
