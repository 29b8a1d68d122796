/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles each map to a list with the source of each slot of the target, and converts records. */
#include "steptrace/maps.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/core/grow.h"
#include "format/core/rule.h"
#include "format/core/step_no_memory.h"
#include "format/language/dl_tree.h"

#define SOURCE_LIMIT ((size_t) 4 << 20) /* of all maps: 64 MiB */

/* The source of a slot of the target. */
struct source {
    bool is_slot; /* a slot of the source record; else a constant */
    uint64_t value;
};

struct map {
    uint32_t target;
    struct source *sources;
    size_t count;
    struct map *next; /* the previous one in the text, inherited ones last */
};

struct step_maps {
    const struct step_definition *definition;
    struct map **first; /* of each record */
    uint64_t *slots;    /* of the last converted record */
    size_t slot_capacity;
    size_t source_count;
};

/* State of compiling one map. */
struct making {
    struct step_maps *maps;
    uint32_t record;
    const struct step_attribute *attribute;
    struct map *map;
    step_map_report report;
    void *user;
    bool no_memory;
};

/* A value within a record: its first slot, and its field. */
struct place {
    size_t slot;
    const struct step_field *field;
};

__attribute__((format(printf, 2, 3))) static bool fault(const struct making *making,
                                                        const char *format, ...)
{
    char message[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (making->report != NULL)
        making->report(making->user, making->maps->definition->records[making->record].name,
                       making->attribute, message);
    return false;
}

/* Follows "a.b" through records in place. */
static bool maps_find_place(const struct step_definition *definition, uint32_t record,
                            const char *path, size_t length, struct place *place)
{
    place->slot = 0;
    place->field = NULL;
    for (;;) {
        const char *dot = memchr(path, '.', length);
        size_t part = dot != NULL ? (size_t) (dot - path) : length;
        const struct step_record *in = &definition->records[record];
        size_t found = dl_find_field(in, path, part);
        if (found == SIZE_MAX)
            return false;
        for (size_t i = 0; i < found; i++)
            place->slot += dl_field_slots(definition, &in->fields[i]);
        place->field = &in->fields[found];
        if (dot == NULL)
            return true;
        if (!step_field_is_nested(place->field))
            return false;
        record = place->field->record;
        path += part + 1;
        length -= part + 1;
    }
}

/* Returns true if a value of `from` is valid for `to`. */
static bool maps_fits(const struct step_definition *definition, const struct step_field *to,
                      const struct step_field *from)
{
    if (to->kind != from->kind || to->array_depth != from->array_depth ||
        step_field_is_identifier(to) != step_field_is_identifier(from))
        return false;
    if (to->kind != STEP_TYPE_RECORD || to->record == from->record)
        return true;
    /* the slots of a record begin with those of its parent; entries have dictionaries of their own
     */
    return step_field_is_nested(to) && step_record_extends(definition, from->record, to->record);
}

static void copy_slots(struct map *map, const struct step_definition *definition,
                       const struct place *to, const struct place *from)
{
    size_t count = dl_field_slots(definition, to->field);
    for (size_t i = 0; i < count; i++)
        map->sources[to->slot + i] = (struct source){true, from->slot + i};
}

/* Fills the slots without a source with empty values.  Returns their number. */
static size_t fill_empty(const struct step_definition *definition, uint32_t record,
                         struct source *sources)
{
    size_t count = 0;
    for (size_t i = 0; i < definition->records[record].field_count; i++) {
        const struct step_field *field = &definition->records[record].fields[i];
        if (step_field_is_nested(field)) {
            count += fill_empty(definition, field->record, sources + count);
            continue;
        }
        sources[count++] = (struct source){false, dl_empty_slot(field)};
    }
    return count;
}

/* Copies fields of the same name whose types fit. */
static void fill_by_name(struct making *making)
{
    const struct step_definition *definition = making->maps->definition;
    const struct step_record *target = &definition->records[making->map->target];
    struct place to = {0, NULL}, from;
    for (size_t i = 0; i < target->field_count; i++) {
        to.field = &target->fields[i];
        if (maps_find_place(definition, making->record, to.field->name, strlen(to.field->name),
                            &from) &&
            maps_fits(definition, to.field, from.field))
            copy_slots(making->map, definition, &to, &from);
        to.slot += dl_field_slots(definition, to.field);
    }
}

static bool maps_is_number(const char *text, size_t length, uint64_t *value)
{
    char copy[32], *end;
    if (length == 0 || length >= sizeof copy || strchr("-0123456789", text[0]) == NULL)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    *value = copy[0] == '-' ? (uint64_t) strtoll(copy, &end, 0) : strtoull(copy, &end, 0);
    return *end == '\0';
}

/* Processes one `field=source`. */
static bool assign(struct making *making, const char *key, size_t key_length, const char *value,
                   size_t length)
{
    const struct step_definition *definition = making->maps->definition;
    struct place to, from;
    uint64_t number;
    if (!maps_find_place(definition, making->map->target, key, key_length, &to))
        return fault(making, "'%s' has no field '%.*s'",
                     definition->records[making->map->target].name, (int) key_length, key);
    if (maps_is_number(value, length, &number)) {
        if (to.field->kind != STEP_TYPE_INT || to.field->array_depth > 0)
            return fault(making, "'%.*s' is not an int", (int) key_length, key);
        making->map->sources[to.slot] = (struct source){false, number};
        return true;
    }
    if (!maps_find_place(definition, making->record, value, length, &from))
        return fault(making, "'%s' has no field '%.*s'", definition->records[making->record].name,
                     (int) length, value);
    if (!maps_fits(definition, to.field, from.field))
        return fault(making, "'%.*s' is not of the type of '%.*s'", (int) length, value,
                     (int) key_length, key);
    copy_slots(making->map, definition, &to, &from);
    return true;
}

static bool assign_all(struct making *making)
{
    const char *at = making->attribute->value, *end = at + strlen(at);
    struct step_rule rule;
    while (step_rule_next(&at, end, &rule)) {
        const char *last =
            rule.value_length > 0 ? rule.value + rule.value_length : rule.key + rule.key_length;
        bool equals = memchr(rule.text, '=', rule.length) != NULL;
        if (!equals && last == rule.key)
            continue;
        if (!equals)
            return fault(making, "'%.*s' is not FIELD=SOURCE", (int) (last - rule.key), rule.key);
        if (!step_rule_text_is(rule.key, rule.key_length, "to") &&
            !assign(making, rule.key, rule.key_length, rule.value, rule.value_length))
            return false;
    }
    return true;
}

/* Searches the record's package, then the packages around it. */
static uint32_t maps_find_target(const struct making *making, const char *name, size_t length)
{
    const struct step_definition *definition = making->maps->definition;
    const char *package = definition->records[making->record].name;
    size_t left = strlen(package);
    char full[3000];
    do {
        while (left > 0 && package[left - 1] != '.')
            left--;
        if (left + length < sizeof full) {
            snprintf(full, sizeof full, "%.*s%.*s", (int) left, package, (int) length, name);
            uint32_t found = step_definition_find(definition, full);
            if (found != STEP_NO_RECORD)
                return found;
        }
        left -= left > 0;
    } while (left > 0);
    if (length < sizeof full) {
        snprintf(full, sizeof full, "%.*s", (int) length, name);
        return step_definition_find(definition, full);
    }
    return STEP_NO_RECORD;
}

/* Makes room for what step_maps_convert() returns, which then cannot fail for lack of it. */
static bool make_slots(struct step_maps *maps, size_t count)
{
    return STEP_MAKE_ROOM(maps->slots, maps->slot_capacity, count + 1);
}

static bool maps_make(struct making *making)
{
    const struct step_definition *definition = making->maps->definition;
    const struct step_attributes one = {making->attribute, 1};
    const char *name;
    size_t length;
    if (!step_attributes_rule(&one, "map", "to", &name, &length))
        return fault(making, "there is no 'to=RECORD'");
    making->map->target = maps_find_target(making, name, length);
    if (making->map->target == STEP_NO_RECORD)
        return fault(making, "there is no record '%.*s'", (int) length, name);
    size_t count = step_record_slot_count(definition, making->map->target);
    if (count > SOURCE_LIMIT - making->maps->source_count)
        return false;
    making->map->sources = calloc(count + 1, sizeof *making->map->sources);
    making->no_memory = making->map->sources == NULL || !make_slots(making->maps, count);
    if (making->no_memory)
        return false;
    making->maps->source_count += count;
    making->map->count = count;
    fill_empty(definition, making->map->target, making->map->sources);
    fill_by_name(making);
    return assign_all(making);
}

static void destroy_map(struct map *map)
{
    if (map != NULL)
        free(map->sources);
    free(map);
}

size_t dl_inherited_attributes(const struct step_definition *definition, uint32_t record)
{
    const struct step_record *own = &definition->records[record];
    if (own->parent == STEP_NO_RECORD)
        return 0;
    const struct step_attributes *parent = &definition->records[own->parent].attributes;
    if (parent->count > own->attributes.count)
        return 0;
    for (size_t i = 0; i < parent->count; i++)
        if (strcmp(parent->items[i].group, own->attributes.items[i].group) != 0 ||
            strcmp(parent->items[i].value, own->attributes.items[i].value) != 0)
            return 0;
    return parent->count;
}

static enum step_status make_of_record(struct step_maps *maps, uint32_t record,
                                       step_map_report report, void *user, struct step_error *error)
{
    const struct step_record *own = &maps->definition->records[record];
    size_t inherited = dl_inherited_attributes(maps->definition, record);
    if (inherited > 0)
        maps->first[record] = maps->first[own->parent];
    for (size_t i = inherited; i < own->attributes.count; i++) {
        struct making making = {.maps = maps,
                                .record = record,
                                .attribute = &own->attributes.items[i],
                                .report = report,
                                .user = user};
        if (strcmp(making.attribute->group, "map") != 0)
            continue;
        making.map = calloc(1, sizeof *making.map);
        if (making.map != NULL && maps_make(&making)) {
            making.map->next = maps->first[record];
            maps->first[record] = making.map;
        } else {
            making.no_memory = making.no_memory || making.map == NULL;
            destroy_map(making.map);
        }
        if (making.no_memory)
            return step_no_memory(error, NULL);
        if (maps->source_count >= SOURCE_LIMIT)
            return step_error_set(error, STEP_STATUS_LIMIT, NULL, STEP_NO_OFFSET,
                                  "the definition's maps take too much memory");
    }
    return STEP_STATUS_OK;
}

enum step_status step_maps_create(const struct step_definition *definition, step_map_report report,
                                  void *user, struct step_maps **out, struct step_error *error)
{
    struct step_maps *maps = calloc(1, sizeof *maps);
    enum step_status status = STEP_STATUS_OK;
    *out = NULL;
    if (maps != NULL) {
        maps->definition = definition;
        maps->first = calloc(definition->record_count + 1, sizeof(struct map *));
    }
    if (maps == NULL || maps->first == NULL)
        status = step_no_memory(error, NULL);
    for (uint32_t i = 0; status == STEP_STATUS_OK && i < definition->record_count; i++)
        status = make_of_record(maps, i, report, user, error);
    if (status != STEP_STATUS_OK) {
        step_maps_destroy(maps);
        return status;
    }
    *out = maps;
    return STEP_STATUS_OK;
}

void step_maps_destroy(struct step_maps *maps)
{
    if (maps == NULL)
        return;
    /* backwards, because a record's list ends with its parent's, and parents come first */
    for (size_t i = maps->first != NULL ? maps->definition->record_count : 0; i-- > 0;) {
        uint32_t parent = maps->definition->records[i].parent;
        bool shares =
            parent != STEP_NO_RECORD && dl_inherited_attributes(maps->definition, (uint32_t) i) > 0;
        const struct map *end = shares ? maps->first[parent] : NULL;
        while (maps->first[i] != NULL && maps->first[i] != end) {
            struct map *map = maps->first[i];
            maps->first[i] = map->next;
            destroy_map(map);
        }
    }
    free(maps->first);
    free(maps->slots);
    free(maps);
}

static const struct map *find_map(const struct step_maps *maps, uint32_t from, uint32_t to)
{
    const struct map *map = maps->first[from];
    while (map != NULL && !step_record_extends(maps->definition, map->target, to))
        map = map->next;
    return map;
}

uint32_t step_maps_target(const struct step_maps *maps, uint32_t from, uint32_t to)
{
    if (step_record_extends(maps->definition, from, to))
        return from;
    const struct map *map = find_map(maps, from, to);
    return map != NULL ? map->target : STEP_NO_RECORD;
}

bool step_maps_convert(struct step_maps *maps, const struct step_record_view *view, uint32_t to,
                       struct step_record_view *out)
{
    *out = *view;
    if (step_record_extends(maps->definition, view->record, to))
        return true;
    const struct map *map = find_map(maps, view->record, to);
    if (map == NULL)
        return false;
    for (size_t i = 0; i < map->count; i++)
        maps->slots[i] =
            map->sources[i].is_slot ? view->slots[map->sources[i].value] : map->sources[i].value;
    *out = (struct step_record_view){map->target, maps->slots};
    return true;
}
