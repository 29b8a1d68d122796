/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up names in the trace's dictionaries. */
#include "converter/graph/keeper_names.h"

#include <string.h>

static const struct frame_place nowhere;

void keeper_name_class(const struct graph_source *source, uint32_t class_id,
                       struct keeper_name *name)
{
    frame_text((struct step_bytes){NULL, 0}, java_class_name(&source->java, class_id), nowhere,
               name->text, sizeof name->text);
}

void keeper_name_field(const struct graph_source *source, uint32_t field, struct keeper_name *name)
{
    struct step_java_field entry;
    if (java_field(&source->java, field, &entry))
        frame_text(java_class_name(&source->java, entry.class_), entry.name, nowhere, name->text,
                   sizeof name->text);
    else
        strcpy(name->text, "?");
}

static struct step_bytes frame_of(const void *frames, uint64_t *id, char room[FRAME_TEXT])
{
    const struct graph_source *source = frames;
    struct step_java_frame frame;
    struct step_java_method method;
    bool is_known = java_frame(&source->java, *id, &frame);
    *id = is_known ? frame.parent : 0;
    if (!is_known || !java_method(&source->java, frame.method, &method))
        return step_text("?");
    size_t length = frame_text(java_class_name(&source->java, method.class_), method.name,
                               java_place(&source->java, method.class_, &frame), room, FRAME_TEXT);
    return (struct step_bytes){(const uint8_t *) room, length};
}

static void put_part(struct step_bytes part, void *user)
{
    struct keeper_name *name = user;
    size_t used = strlen(name->text), room = sizeof name->text - 1 - used;
    size_t length = part.length < room ? part.length : room;
    memcpy(name->text + used, part.data, length);
    name->text[used + length] = '\0';
}

void keeper_name_site(const struct graph_source *source, uint32_t site, uint64_t depth,
                      struct keeper_name *name)
{
    strcpy(name->text, site == 0 ? "?" : "");
    if (site != 0)
        stack_text_parts((struct stack_text){frame_of, source, site, depth}, put_part, name);
}
