/* SPDX-License-Identifier: Apache-2.0 */
/* What dumps do not tell is refused; of their rows those stay that --class asks for. */
#include "converter/verb_parts/heap/heap_from_dump.h"

#include <stdlib.h>

#include "converter/base/error_report.h"
#include "converter/verb_parts/heap/heaps_found.h"
#include "converter/verb_parts/heap_of_dump.h"

static bool name_matches(const void *user, const char *glob)
{
    return trace_glob_matches(glob, *(const struct step_bytes *) user);
}

static bool class_is_wanted(const struct heaps_found *found, uint32_t class_id)
{
    const struct selected_globs *globs = &found->asked->selected.classes;
    const struct step_bytes *name = &trace_class_of(found->sites->names, class_id)->name;
    return selected_globs_accept(globs, selected_globs_mask(globs, name_matches, name));
}

static void add_amount(struct heap_amount *sum, const struct heap_amount *amount)
{
    sum->objects += amount->objects;
    sum->bytes += amount->bytes;
    sum->ages_us += amount->ages_us;
}

static void filter_classes(const struct heaps_found *found, struct heap_snapshot *snapshot)
{
    size_t kept = 0;
    free(snapshot->dumped); /* they tell of all */
    snapshot->dumped = NULL;
    snapshot->live = snapshot->allocated = (struct heap_amount){0, 0, 0};
    for (size_t i = 0; i < snapshot->count; i++) {
        if (!class_is_wanted(found, snapshot->rows[i].key.class_id))
            continue;
        snapshot->rows[kept++] = snapshot->rows[i];
        add_amount(&snapshot->live, &snapshot->rows[i].live);
        add_amount(&snapshot->allocated, &snapshot->rows[i].allocated);
    }
    snapshot->count = kept;
}

static enum step_status check(const struct heap_asked *asked, const char *path)
{
    struct event_selection rest = asked->selected;
    rest.classes.count = 0;
    if ((asked->report.axes & HEAP_BY_THREAD) != 0 || asked->ages) {
        report_line("%s: heap dumps tell neither threads nor ages", path);
        return STEP_STATUS_INVALID;
    }
    if (!event_selection_is_all(&rest)) {
        report_line("%s: of heap dumps only --class can be chosen", path);
        return STEP_STATUS_INVALID;
    }
    return STEP_STATUS_OK;
}

static enum step_status print(struct heap_of_dump *import, const struct heap_asked *asked,
                              const char *path, size_t *failed)
{
    struct heaps_found found = {
        .asked = asked, .path = path, .sites = &import->infra.sites, .is_import = true};
    bool by_class = asked->report.axes == HEAP_BY_CLASS && asked->report.tree == HEAP_NO_TREE;
    enum step_status status = heap_of_dump_moments(import, asked->heap, by_class, asked->moments,
                                                   asked->moment_count, found.snapshots);
    for (size_t i = 0; asked->selected.classes.count > 0 && i < asked->moment_count; i++)
        if (found.snapshots[i].rows != NULL)
            filter_classes(&found, &found.snapshots[i]);
    if (status == STEP_STATUS_OK)
        status = heaps_found_print(&found, failed);
    heaps_found_reset(&found);
    return status;
}

enum step_status heap_from_dump(const struct heap_asked *asked, const char *path, size_t *failed)
{
    struct heap_of_dump import;
    if (check(asked, path) != STEP_STATUS_OK)
        return STEP_STATUS_INVALID;
    enum step_status status = heap_of_dump_open(&import, path);
    if (status == STEP_STATUS_OK) {
        status = print(&import, asked, path, failed);
        status = heap_of_dump_report_damage(&import, status);
    }
    heap_of_dump_close(&import);
    return status;
}
