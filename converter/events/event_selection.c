/* SPDX-License-Identifier: Apache-2.0 */
/* Matching events against what is wanted. */
#include "converter/events/event_selection.h"

void event_selection_init(struct event_selection *selected)
{
    *selected = (struct event_selection){.to_ns = UINT64_MAX, .kinds = TRACE_ALL_KINDS};
}

bool event_selection_is_all(const struct event_selection *selected)
{
    return selected->from_ns == 0 && selected->to_ns == UINT64_MAX && !selected->has_thread &&
           selected->kinds == TRACE_ALL_KINDS && selected->class_glob == NULL;
}

void trace_filter_init(struct trace_filter *filter, const struct event_selection *selected)
{
    filter->selected = *selected;
    filter->everything = event_selection_is_all(selected);
    id_table_init(&filter->classes, sizeof(uint8_t));
}

void trace_filter_reset(struct trace_filter *filter)
{
    id_table_reset(&filter->classes);
}

static bool matches_one(char glob, uint8_t byte)
{
    if (glob == '?')
        return byte != '/';
    return (glob == '.' ? '/' : glob) == (char) byte;
}

/* Goes back to the last star only; where that one stops at a slash, to the last double star. */
bool trace_glob_matches(const char *glob, struct step_bytes name)
{
    const char *star[2] = {NULL, NULL}; /* what follows the last `*`, the last `**` */
    size_t from[2] = {0, 0};
    size_t at = 0;
    for (;;) {
        if (glob[0] == '*') {
            size_t kind = glob[1] == '*';
            glob += 1 + kind;
            star[kind] = glob;
            from[kind] = at;
            if (kind == 1)
                star[0] = NULL;
            continue;
        }
        if (at == name.length && *glob == '\0')
            return true;
        if (at < name.length && *glob != '\0' && matches_one(*glob, name.data[at])) {
            glob++;
            at++;
            continue;
        }
        if (star[0] != NULL && from[0] < name.length && name.data[from[0]] != '/') {
            at = ++from[0];
            glob = star[0];
        } else if (star[1] != NULL && from[1] < name.length) {
            at = ++from[1];
            glob = star[1];
            star[0] = NULL;
        } else {
            return false;
        }
    }
}

static bool class_is_wanted(struct trace_filter *filter, const struct trace_names *names,
                            uint32_t class_id)
{
    uint8_t *known = id_table_get(&filter->classes, class_id);
    if (known != NULL && *known != 0)
        return *known == 1;
    bool wanted =
        trace_glob_matches(filter->selected.class_glob, trace_class_of(names, class_id)->name);
    if (known != NULL)
        *known = wanted ? 1 : 2;
    return wanted;
}

static bool takes_class(struct trace_filter *filter, const struct trace_names *names,
                        const struct trace_event *event)
{
    switch (event->kind) {
    case EVENT_CLASS_LOAD:
    case EVENT_OBJECT_ALLOC:
    case EVENT_OBJECT_FREE:
        return class_is_wanted(filter, names, event->class_id);
    case EVENT_METHOD_ENTRY:
    case EVENT_METHOD_EXIT:
    case EVENT_METHOD_POP:
        return class_is_wanted(filter, names, trace_method_of(names, event->method_id)->class_id);
    default:
        return false;
    }
}

bool trace_filter_takes(struct trace_filter *filter, const struct trace_names *names,
                        const struct trace_event *event)
{
    if (filter->everything)
        return true;
    const struct event_selection *selected = &filter->selected;
    if ((selected->kinds & TRACE_KIND_BIT(event->kind)) == 0 ||
        event->time_ns < selected->from_ns || event->time_ns > selected->to_ns)
        return false;
    if (selected->has_thread &&
        (event->thread_id == 0
             ? selected->thread != 0
             : trace_thread_of(names, event->thread_id)->number != selected->thread))
        return false;
    return selected->class_glob == NULL || takes_class(filter, names, event);
}
