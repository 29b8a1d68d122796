/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts on sites are kept; what is hidden has a key that no object has. */
#include "converter/heap/heap_choice.h"

/* A note of a site: it was looked at, and is wanted. */
enum { LOOKED_AT = 1, WANTED = 2 };

static const struct heap_key hidden = {UINT32_MAX, UINT32_MAX, UINT32_MAX};

bool heap_choice_init(struct heap_tracker *tracker, const struct event_selection *selected)
{
    struct event_selection everything;
    event_selection_init(&everything);
    id_table_init(&tracker->verdicts, sizeof(uint32_t));
    bool ok = trace_filter_init(&tracker->filter, selected != NULL ? selected : &everything);
    tracker->selects = !tracker->filter.everything;
    return ok &&
           (!tracker->selects || heap_cells_put(&tracker->cells, &hidden) == HEAP_HIDDEN_CELL);
}

void heap_choice_reset(struct heap_tracker *tracker)
{
    trace_filter_reset(&tracker->filter);
    id_table_reset(&tracker->verdicts);
}

static bool site_is_wanted(const struct heap_tracker *tracker, uint32_t site)
{
    const struct trace_names *names = tracker->sites.names;
    const struct event_selection *selected = &tracker->filter.selected;
    const struct heap_site *inner = &tracker->sites.items[site];
    uint32_t mask = 0;
    if (selected->methods.count > 0 &&
        !selected_globs_accept(&selected->methods,
                               site == 0 ? 0
                                         : trace_filter_frame_mask(names, &selected->methods,
                                                                   inner->method_id, inner->line)))
        return false;
    for (uint32_t at = site; selected->sites.count > 0 && at != 0;) {
        const struct heap_site *item = &tracker->sites.items[at];
        mask |= trace_filter_frame_mask(names, &selected->sites, item->method_id, item->line);
        at = item->parent;
    }
    return selected_globs_accept(&selected->sites, mask);
}

bool heap_choice_takes(struct heap_tracker *tracker, const struct trace_event *event, uint32_t site)
{
    if (!trace_filter_takes_object(&tracker->filter, tracker->sites.names, event))
        return false;
    if (tracker->filter.selected.sites.count == 0 && tracker->filter.selected.methods.count == 0)
        return true;
    uint32_t *note = id_table_get(&tracker->verdicts, site);
    if (note != NULL && *note != 0)
        return (*note & WANTED) != 0;
    bool wanted = site_is_wanted(tracker, site);
    if (note != NULL)
        *note = LOOKED_AT | (wanted ? WANTED : 0);
    return wanted;
}

static void take_off(struct heap_amount *sum, const struct heap_amount *amount)
{
    sum->objects -= amount->objects;
    sum->bytes -= amount->bytes;
    sum->ages_us -= amount->ages_us;
}

void heap_choice_show(const struct heap_tracker *tracker, struct heap_snapshot *snapshot)
{
    size_t i = 0;
    while (tracker->selects && i < snapshot->count && snapshot->rows[i].key.site != hidden.site)
        i++;
    if (!tracker->selects || i == snapshot->count)
        return;
    take_off(&snapshot->live, &snapshot->rows[i].live);
    take_off(&snapshot->allocated, &snapshot->rows[i].allocated);
    snapshot->rows[i] = snapshot->rows[--snapshot->count];
}
