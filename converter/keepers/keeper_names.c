/* SPDX-License-Identifier: Apache-2.0 */
/* Looks names up in the trace's dictionaries. */
#include "converter/keepers/keeper_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static size_t put(struct keeper_name *name, size_t at, const void *data, size_t length)
{
    size_t room = sizeof name->text - 1 - at;
    if (length > room)
        length = room;
    memcpy(name->text + at, data, length);
    name->text[at + length] = '\0';
    return at + length;
}

static size_t put_class(const struct graph_source *source, uint64_t class_id,
                        struct keeper_name *name, size_t at)
{
    struct step_java_class class;
    if (!step_java_class_look_up(&source->binding, source->reader, class_id, &class))
        return put(name, at, "?", 1);
    return put(name, at, class.name.data, class.name.length);
}

void keeper_name_class(const struct graph_source *source, uint32_t class_id,
                       struct keeper_name *name)
{
    put_class(source, class_id, name, 0);
}

void keeper_name_field(const struct graph_source *source, uint32_t field, struct keeper_name *name)
{
    struct step_java_field entry;
    if (!step_java_field_look_up(&source->binding, source->reader, field, &entry)) {
        put(name, 0, "?", 1);
        return;
    }
    size_t at = put_class(source, entry.class_, name, 0);
    at = put(name, at, ".", 1);
    put(name, at, entry.name.data, entry.name.length);
}

static size_t put_frame(const struct graph_source *source, const struct step_java_frame *frame,
                        struct keeper_name *name, size_t at)
{
    struct step_java_method method;
    char line[32];
    if (!step_java_method_look_up(&source->binding, source->reader, frame->method, &method))
        return put(name, at, "?", 1);
    at = put_class(source, method.class_, name, at);
    at = put(name, at, ".", 1);
    at = put(name, at, method.name.data, method.name.length);
    int length = frame->line != 0 ? snprintf(line, sizeof line, ":%" PRIu64, frame->line) : 0;
    return put(name, at, line, (size_t) length);
}

void keeper_name_site(const struct graph_source *source, uint32_t site, uint64_t depth,
                      struct keeper_name *name)
{
    size_t at = 0;
    struct step_java_frame frame;
    uint64_t frames = 0;
    name->text[0] = '\0';
    for (uint64_t id = site; id != 0 && (depth == 0 || frames < depth); frames++) {
        if (!step_java_frame_look_up(&source->binding, source->reader, id, &frame))
            break;
        if (frames > 0)
            at = put(name, at, " < ", 3);
        at = put_frame(source, &frame, name, at);
        id = frame.parent < id ? frame.parent : 0; /* parents come first: there are no circles */
        if (at == sizeof name->text - 1)
            break;
    }
    if (at == 0)
        put(name, 0, "?", 1);
}
