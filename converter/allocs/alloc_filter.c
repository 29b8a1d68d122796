/* SPDX-License-Identifier: Apache-2.0 */
/* What lives, by address, and which of it was taken. */
#include "converter/allocs/alloc_filter.h"

#include <stdlib.h>

#include "converter/base/id_set.h"

bool alloc_filter_init(struct alloc_filter *filter, const struct event_selection *selected)
{
    struct event_selection objects = *selected;
    objects.threads.count = 0; /* records have threads of their own */
    *filter = (struct alloc_filter){.selected = selected,
                                    .everything = event_selection_is_all(selected),
                                    .is_of_objects = selected->classes.count > 0 ||
                                                     event_selection_is_of_objects(&objects)};
    return object_table_init(&filter->live);
}

void alloc_filter_reset(struct alloc_filter *filter)
{
    object_table_reset(&filter->live);
}

static bool name_matches(const void *user, const char *glob)
{
    return trace_glob_matches(glob, *(const struct step_bytes *) user);
}

static bool takes_name(const struct selected_globs *globs, const struct step_bytes *name)
{
    return globs->count == 0 ||
           selected_globs_accept(globs, selected_globs_mask(globs, name_matches, name));
}

static bool takes_thread(const struct selected_globs *globs, uint64_t thread)
{
    bool is_asked = false, is_found = false;
    for (unsigned i = 0; i < globs->count; i++) {
        const char *glob = globs->items[i];
        bool is_not = glob[0] == '!';
        char *end;
        bool matches = strtoull(glob + is_not, &end, 10) == thread && *end == '\0';
        if (is_not && matches)
            return false;
        is_asked = is_asked || !is_not;
        is_found = is_found || matches;
    }
    return is_found || !is_asked;
}

/* Puts the object that a record makes into the table; whether it is taken. */
static bool take_new(struct alloc_filter *filter, const struct hatf_record *record,
                     uint64_t address)
{
    static const struct step_bytes plain = {(const uint8_t *) "malloc", 6};
    static const struct step_bytes nowhere = {(const uint8_t *) "", 0};
    const struct event_selection *selected = filter->selected;
    const struct step_bytes *name = record->attributes.length > 0 ? &record->attributes : &plain;
    uint64_t object = ++filter->object_count;
    bool takes = takes_name(&selected->classes, name) && takes_name(&selected->sites, &nowhere) &&
                 takes_name(&selected->methods, &nowhere) &&
                 (!selected->size.is_set || selected_range_has(&selected->size, record->size)) &&
                 (selected->objects == NULL || id_set_has(selected->objects, object));
    const struct live_object live = {
        .object = live_address_key(address), .value = object, .class_id = takes};
    if (!object_table_put(&filter->live, &live))
        filter->no_memory = true;
    return takes;
}

static bool take_old(struct alloc_filter *filter, uint64_t address, bool *is_known)
{
    struct live_object live;
    *is_known = object_table_take(&filter->live, live_address_key(address), &live);
    return *is_known && live.class_id != 0;
}

/* By what objects are; true of other records only if nothing is asked of objects. */
static bool takes_object(struct alloc_filter *filter, const struct hatf_record *record)
{
    bool is_known, takes;
    switch (record->tag) {
    case HATF_ALLOC:
        return take_new(filter, record, record->address);
    case HATF_FREE:
        return take_old(filter, record->address, &is_known);
    case HATF_REALLOC_NO_ALLOC:
        if (record->new_address == 0)
            return false;
        takes = take_old(filter, record->address, &is_known);
        return (is_known && take_new(filter, record, record->new_address)) || takes;
    default:
        return false;
    }
}

/* The kind of event that stands for the tag; KIND_COUNT: none does. */
static enum step_text_kind kind_of(enum hatf_tag tag)
{
    switch (tag) {
    case HATF_ALLOC:
        return EVENT_OBJECT_ALLOC;
    case HATF_FREE:
        return EVENT_OBJECT_FREE;
    case HATF_CREATE_THREAD:
        return EVENT_THREAD_BEGIN;
    case HATF_DESTROY_THREAD:
        return EVENT_THREAD_END;
    default:
        return EVENT_KIND_COUNT;
    }
}

bool alloc_filter_takes(struct alloc_filter *filter, const struct hatf_record *record)
{
    const struct event_selection *selected = filter->selected;
    if (filter->everything || record->tag == HATF_METADATA)
        return true;
    if (filter->is_of_objects && !takes_object(filter, record))
        return false;
    if (record->tag == HATF_COMMENT || record->time < selected->from_ns ||
        record->time > selected->to_ns || !takes_thread(&selected->threads, record->thread))
        return false;
    enum step_text_kind kind = kind_of(record->tag);
    return kind < EVENT_KIND_COUNT ? (selected->kinds & TRACE_KIND_BIT(kind)) != 0
                                   : selected->kinds == TRACE_ALL_KINDS;
}
