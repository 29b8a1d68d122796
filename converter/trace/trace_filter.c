/* SPDX-License-Identifier: Apache-2.0 */
/* Matches each name once.  Remembers accepted objects for their frees. */
#include "converter/trace/trace_filter.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/containers/id_set.h"

/* Cached result of matching an id. */
enum { LOOKED_AT = 1, WANTED = 2 };

#define NAME_MOST 1024u /* maximum length of "class/method:line" */

void trace_filter_init(struct trace_filter *filter, const struct event_selection *selected)
{
    struct event_selection of_any_kind = *selected;
    of_any_kind.kinds = TRACE_ALL_KINDS;
    *filter = (struct trace_filter){.selected = *selected,
                                    .everything = event_selection_is_all(selected),
                                    .only_kinds = event_selection_is_all(&of_any_kind),
                                    .is_of_objects = event_selection_is_of_objects(selected)};
    id_table_init(&filter->classes, sizeof(uint32_t));
    id_table_init(&filter->threads, sizeof(uint32_t));
    id_table_init(&filter->methods, sizeof(uint32_t));
    id_table_init(&filter->frames, sizeof(uint32_t));
}

void trace_filter_reset(struct trace_filter *filter)
{
    id_table_reset(&filter->classes);
    id_table_reset(&filter->threads);
    id_table_reset(&filter->methods);
    id_table_reset(&filter->frames);
    object_table_reset(&filter->chosen);
}

/* ---- names ---- */

static bool trace_filter_class_is_wanted(const struct trace_filter *filter,
                                         const struct trace_names *names, uint32_t class_id)
{
    return selected_globs_take(&filter->selected.classes, trace_class_name_matches,
                               &trace_class_of(names, class_id)->name);
}

/* A pattern of digits is the thread's number.  Others match its name, with the wildcards `*`,
 * `?` and `[`. */
static bool trace_filter_thread_matches(const void *user, const char *glob)
{
    const struct trace_thread *thread = user;
    char name[NAME_MOST];
    if (glob[0] != '\0' && glob[strspn(glob, "0123456789")] == '\0')
        return strtoull(glob, NULL, 10) == thread->number;
    snprintf(name, sizeof name, "%.*s", (int) thread->name.length,
             thread->name.data != NULL ? (const char *) thread->name.data : "");
    return thread->number != 0 && fnmatch(glob, name, FNM_NOESCAPE) == 0;
}

uint32_t trace_filter_thread_mask(const struct trace_names *names,
                                  const struct selected_globs *globs, uint32_t thread_id)
{
    static const struct trace_thread none; /* thread 0: the VM, or unknown */
    const struct trace_thread *thread = thread_id == 0 ? &none : trace_thread_of(names, thread_id);
    return selected_globs_mask(globs, trace_filter_thread_matches, thread);
}

static bool thread_is_wanted(const struct trace_filter *filter, const struct trace_names *names,
                             uint32_t thread_id)
{
    const struct selected_globs *globs = &filter->selected.threads;
    return selected_globs_accept(globs, trace_filter_thread_mask(names, globs, thread_id));
}

/* The names of a code location that patterns match. */
struct place {
    struct step_bytes class_name;
    struct step_bytes method; /* "class/method" */
    struct step_bytes line;   /* "class/method:line"; without line if it is unknown */
};

/* Returns true if the pattern is a frame as it is printed, "Words.count(Words.java:7)", and sets
 * `out` to the pattern without the file, "Words.count:7". */
static bool drop_file(const char *glob, char out[NAME_MOST])
{
    size_t length = strlen(glob);
    const char *open = strrchr(glob, '('), *colon = strrchr(glob, ':');
    if (length >= NAME_MOST || open == NULL || colon == NULL || colon < open ||
        glob[length - 1] != ')' || colon + 1 + strspn(colon + 1, "0123456789") != glob + length - 1)
        return false;
    snprintf(out, NAME_MOST, "%.*s%.*s", (int) (open - glob), glob,
             (int) (glob + length - 1 - colon), colon);
    return true;
}

/* A pattern that names only a class matches all its methods. */
static bool place_matches(const void *user, const char *glob)
{
    const struct place *place = user;
    char plain[NAME_MOST];
    if (drop_file(glob, plain))
        glob = plain;
    return strchr(glob, ':') != NULL ? trace_glob_matches(glob, place->line)
                                     : trace_glob_matches(glob, place->method) ||
                                           trace_glob_matches(glob, place->class_name);
}

uint32_t trace_filter_frame_mask(const struct trace_names *names,
                                 const struct selected_globs *globs, uint32_t method_id,
                                 uint32_t line)
{
    char text[NAME_MOST];
    const struct trace_method *method = trace_method_of(names, method_id);
    struct place place = {.class_name = trace_class_of(names, method->class_id)->name};
    size_t used = 0;
    const struct step_bytes parts[] = {place.class_name, {(const uint8_t *) "/", 1}, method->name};
    for (size_t i = 0; i < 3; i++)
        if (parts[i].length < sizeof text - 16 - used) {
            memcpy(text + used, parts[i].data, parts[i].length);
            used += parts[i].length;
        }
    place.method = place.line = (struct step_bytes){(const uint8_t *) text, used};
    if (line != 0)
        place.line.length += (size_t) snprintf(text + used, sizeof text - used, ":%" PRIu64,
                                               trace_place(names, method_id, line, 0).line);
    return selected_globs_mask(globs, place_matches, &place);
}

static bool method_is_wanted(const struct trace_filter *filter, const struct trace_names *names,
                             uint32_t method_id)
{
    const struct selected_globs *globs = &filter->selected.methods;
    return selected_globs_accept(globs, trace_filter_frame_mask(names, globs, method_id, 0));
}

/* Tests an allocation's call stack; 0: unknown, which only exclusions accept. */
static bool stack_is_wanted(const struct trace_filter *filter, const struct trace_names *names,
                            uint32_t frame_id)
{
    const struct selected_globs *methods = &filter->selected.methods;
    const struct selected_globs *sites = &filter->selected.sites;
    uint32_t mask = 0;
    if (methods->count > 0) {
        const struct trace_frame *frame = trace_frame_of(names, frame_id);
        if (!selected_globs_accept(
                methods, frame_id == 0 ? 0
                                       : trace_filter_frame_mask(names, methods, frame->method_id,
                                                                 frame->line)))
            return false;
    }
    for (uint32_t at = frame_id; sites->count > 0 && at != 0;) {
        const struct trace_frame *frame = trace_frame_of(names, at);
        mask |= trace_filter_frame_mask(names, sites, frame->method_id, frame->line);
        at = frame->parent;
    }
    return selected_globs_accept(sites, mask);
}

typedef bool (*judge)(const struct trace_filter *filter, const struct trace_names *names,
                      uint32_t id);

/* Matches each id once. */
static bool trace_filter_is_wanted(const struct trace_filter *filter, struct id_table *notes,
                                   judge ask, const struct trace_names *names, uint32_t id)
{
    uint32_t *note = id_table_get(notes, id);
    if (note != NULL && *note != 0)
        return (*note & WANTED) != 0;
    bool wanted = ask(filter, names, id);
    if (note != NULL)
        *note = LOOKED_AT | (wanted ? WANTED : 0);
    return wanted;
}

/* ---- events ---- */

static bool takes_thread(struct trace_filter *filter, const struct trace_names *names,
                         uint32_t thread_id)
{
    return filter->selected.threads.count == 0 ||
           trace_filter_is_wanted(filter, &filter->threads, thread_is_wanted, names, thread_id);
}

static bool takes_class(struct trace_filter *filter, const struct trace_names *names,
                        uint32_t class_id)
{
    return filter->selected.classes.count == 0 ||
           trace_filter_is_wanted(filter, &filter->classes, trace_filter_class_is_wanted, names,
                                  class_id);
}

static bool is_in_time(const struct trace_filter *filter, const struct trace_event *event)
{
    return event->time_ns >= filter->selected.from_ns && event->time_ns <= filter->selected.to_ns;
}

static bool takes_phase(const struct trace_filter *filter, const struct trace_event *event)
{
    return !event_selection_is_of_phases(&filter->selected) || (event->flags & TRACE_IN_PHASE) != 0;
}

static bool takes_object(struct trace_filter *filter, const struct trace_names *names,
                         const struct trace_event *event)
{
    const struct event_selection *selected = &filter->selected;
    return takes_class(filter, names, event->class_id) && takes_phase(filter, event) &&
           takes_thread(filter, names, event->thread_id) &&
           (!selected->size.is_set || selected_range_has(&selected->size, event->size)) &&
           (selected->objects == NULL || id_set_has(selected->objects, event->object));
}

bool trace_filter_takes_object(struct trace_filter *filter, const struct trace_names *names,
                               const struct trace_event *event)
{
    return is_in_time(filter, event) && takes_object(filter, names, event);
}

/* Tests an allocation, or a free of an object whose allocation was accepted. */
static bool takes_object_event(struct trace_filter *filter, const struct trace_names *names,
                               const struct trace_event *event)
{
    struct live_object object = {.object = event->object};
    if (event->kind == EVENT_OBJECT_FREE)
        return object_table_take(&filter->chosen, event->object, &object);
    bool has_place = filter->selected.sites.count > 0 || filter->selected.methods.count > 0;
    if (!takes_object(filter, names, event) ||
        (has_place &&
         !trace_filter_is_wanted(filter, &filter->frames, stack_is_wanted, names, event->stack_id)))
        return false;
    if (!object_table_put(&filter->chosen, &object))
        filter->no_memory = true;
    return true;
}

/* Tests other events: criteria about objects reject them. */
static bool takes_other_event(struct trace_filter *filter, const struct trace_names *names,
                              const struct trace_event *event)
{
    const struct event_selection *selected = &filter->selected;
    bool has_class = event->kind == EVENT_CLASS_LOAD || event->kind == EVENT_OBJECT_ALLOC ||
                     event->kind == EVENT_OBJECT_FREE;
    bool has_method = event->kind == EVENT_METHOD_ENTRY || event->kind == EVENT_METHOD_EXIT ||
                      event->kind == EVENT_METHOD_POP;
    if (selected->size.is_set || selected->sites.count > 0 ||
        event_selection_needs_deaths(selected) || !takes_phase(filter, event) ||
        !takes_thread(filter, names, event->thread_id))
        return false;
    if (selected->methods.count > 0 &&
        !(has_method && trace_filter_is_wanted(filter, &filter->methods, method_is_wanted, names,
                                               event->method_id)))
        return false;
    if (selected->classes.count == 0)
        return true;
    uint32_t class_id =
        has_method ? trace_method_of(names, event->method_id)->class_id : event->class_id;
    return (has_class || has_method) && takes_class(filter, names, class_id);
}

bool trace_filter_takes_call(struct trace_filter *filter, const struct trace_names *names,
                             const struct trace_event *event)
{
    return (filter->selected.kinds & TRACE_KIND_BIT(event->kind)) != 0 &&
           takes_other_event(filter, names, event);
}

bool trace_filter_takes(struct trace_filter *filter, const struct trace_names *names,
                        const struct trace_event *event)
{
    if (filter->only_kinds)
        return (filter->selected.kinds & TRACE_KIND_BIT(event->kind)) != 0;
    bool is_object = event->kind == EVENT_OBJECT_ALLOC || event->kind == EVENT_OBJECT_FREE;
    if (filter->is_of_objects && is_object && !takes_object_event(filter, names, event))
        return false;
    if ((filter->selected.kinds & TRACE_KIND_BIT(event->kind)) == 0 || !is_in_time(filter, event))
        return false;
    return (filter->is_of_objects && is_object) || takes_other_event(filter, names, event);
}
