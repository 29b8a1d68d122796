/* SPDX-License-Identifier: Apache-2.0 */
/* Orders records so that contained records come first, by depth-first search. */
#include "converter/formats/ctf/ctf_types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/base/name_index.h"

bool ctf_holds_record(const struct step_field *field)
{
    return field->kind == STEP_TYPE_RECORD && !step_field_is_identifier(field) &&
           !step_field_is_variant(field);
}

/* ---- labels ---- */

/* "java.Class" becomes java_Class.  A single word may be a keyword of TSDL, readers remove a
 * leading underscore, and two names may become equal; a number then makes the label unique. */
static char *label_of(struct name_index *taken, const struct step_definition *definition,
                      uint32_t record)
{
    const char *name = definition->records[record].name;
    size_t size = strlen(name) + 24;
    char *label = malloc(size);
    bool is_new = true;
    if (label == NULL)
        return NULL;
    int length = snprintf(label, size, "%s%s", *name == '_' ? "r" : "", name);
    for (char *at = label; *at != '\0'; at++)
        if (*at == '.')
            *at = '_';
    bool is_word = strchr(name, '.') == NULL;
    if (is_word || (name_index_put(taken, 0, step_text(label), &is_new) != 0 && !is_new))
        snprintf(label + length, size - (size_t) length, "__%u", (unsigned) record);
    return label;
}

static bool make_labels(struct ctf_types *types)
{
    struct name_index taken = {0};
    types->labels = calloc(types->definition->record_count + 1, sizeof *types->labels);
    bool ok = types->labels != NULL;
    for (uint32_t i = 0; ok && i < types->definition->record_count; i++) {
        types->labels[i] = label_of(&taken, types->definition, i);
        ok = types->labels[i] != NULL;
    }
    name_index_reset(&taken);
    return ok;
}

/* ---- order ---- */

enum colour { NEW, OPEN, DONE };

/* Position of the search: a record, one of its fields, and one of that field's possible types. */
struct step_down {
    uint32_t record, field, target;
};

struct descent {
    struct ctf_types *types;
    uint8_t *colours;
    struct step_down *path; /* of open records */
    size_t depth;
};

/* Finds the next record that the current field may contain.  Returns false if there is none. */
static bool next_target(const struct step_definition *definition, const struct step_field *field,
                        struct step_down *at, uint32_t *record)
{
    bool is_variant = step_field_is_variant(field);
    if (!is_variant && !ctf_holds_record(field))
        return false;
    if (!is_variant) {
        *record = field->record;
        return at->target++ == 0;
    }
    while (at->target < definition->record_count)
        if (step_record_extends(definition, at->target++, field->record)) {
            *record = at->target - 1;
            return true;
        }
    return false;
}

static void go_into(struct descent *descent, uint32_t record)
{
    descent->colours[record] = OPEN;
    descent->path[descent->depth++] = (struct step_down){.record = record};
}

/* One step of the search: into a record, on to the next field, or out. */
static void advance(struct descent *descent)
{
    struct ctf_types *types = descent->types;
    struct step_down *at = &descent->path[descent->depth - 1];
    const struct step_record *type = &types->definition->records[at->record];
    uint32_t target;
    if (at->field == type->field_count) {
        descent->colours[at->record] = DONE;
        types->order[types->order_count++] = at->record;
        descent->depth--;
    } else if (!next_target(types->definition, &type->fields[at->field], at, &target)) {
        at->field++;
        at->target = 0;
    } else if (descent->colours[target] == OPEN) {
        types->as_text[at->record][at->field] = 1;
        at->field++;
        at->target = 0;
    } else if (descent->colours[target] == NEW) {
        go_into(descent, target);
    }
}

static bool make_order(struct ctf_types *types)
{
    size_t count = types->definition->record_count;
    struct descent descent = {.types = types,
                              .colours = calloc(count + 1, 1),
                              .path = calloc(count + 1, sizeof *descent.path)};
    bool ok = descent.colours != NULL && descent.path != NULL;
    for (uint32_t i = 0; ok && i < count; i++) {
        if (descent.colours[i] != NEW)
            continue;
        go_into(&descent, i);
        while (descent.depth > 0)
            advance(&descent);
    }
    free(descent.colours);
    free(descent.path);
    return ok;
}

bool ctf_types_init(struct ctf_types *types, const struct step_definition *definition)
{
    size_t count = definition->record_count;
    *types = (struct ctf_types){.definition = definition,
                                .order = calloc(count + 1, sizeof *types->order),
                                .as_text = calloc(count + 1, sizeof *types->as_text)};
    bool ok = types->order != NULL && types->as_text != NULL;
    for (size_t i = 0; ok && i < count; i++) {
        types->as_text[i] = calloc(definition->records[i].field_count + 1, 1);
        ok = types->as_text[i] != NULL;
    }
    return ok && make_labels(types) && make_order(types);
}

void ctf_types_reset(struct ctf_types *types)
{
    for (size_t i = 0; types->definition != NULL && i < types->definition->record_count; i++) {
        if (types->as_text != NULL)
            free(types->as_text[i]);
        if (types->labels != NULL)
            free(types->labels[i]);
    }
    free(types->order);
    free(types->as_text);
    free(types->labels);
    *types = (struct ctf_types){.definition = NULL};
}
