/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of records that need all of them built. */
#include <string.h>

#include "format/language/dl_resolver.h"

static bool makes_identifier(const struct dl_modifier *modifier)
{
    bool found = false;
    for (const struct dl_attribute *at = modifier->attributes; at != NULL; at = at->next) {
        const struct step_attribute item = {at->group, at->value, 0, 0};
        const struct step_attributes one = {&item, 1};
        found = found || step_attributes_rule(&one, "encoding", "identifier", NULL, NULL);
    }
    return found;
}

/* Paths of modifiers may refer to later records, so they are checked after all are built. */
static void check_paths(struct dl_resolver *resolver, const struct dl_record *record)
{
    const struct step_record *built = &resolver->records[record->index];
    for (const struct dl_modifier *modifier = record->modifiers; modifier != NULL;
         modifier = modifier->next) {
        struct dl_part part;
        if (strchr(modifier->path, '.') == NULL)
            continue;
        if (!dl_follow_path(resolver->records, built, modifier->path, &part)) {
            dl_fault(resolver->parse, modifier->place, "'%s' does not name a part of a field",
                     modifier->path);
            continue;
        }
        const struct step_field *inner = &part.record->fields[part.field];
        if (part.is_nested && !part.is_length && inner->kind != STEP_TYPE_INT &&
            makes_identifier(modifier) && !step_field_is_identifier(inner))
            dl_fault(resolver->parse, modifier->place,
                     "only the record that declares '%s' may say whether it is an identifier",
                     inner->name);
    }
}

/* Returns the number of values nested in a record; 0, after reporting a fault, if it contains
 * itself. */
static uint32_t count_nodes(struct dl_resolver *resolver, uint32_t index, uint32_t depth)
{
    const uint32_t counting = UINT32_MAX;
    const struct step_record *record = &resolver->records[index];
    const struct dl_place place = resolver->ordered[index]->place;
    if (resolver->nodes[index] == counting || depth > 64) {
        dl_fault(resolver->parse, place, "record '%s' contains itself, or is nested too deeply",
                 record->name);
        return 0;
    }
    if (resolver->nodes[index] != 0)
        return resolver->nodes[index];
    resolver->nodes[index] = counting;
    uint64_t nodes = 1;
    for (size_t i = 0; i < record->field_count && nodes <= DL_SLOT_LIMIT; i++) {
        const struct step_field *field = &record->fields[i];
        uint32_t inner =
            resolver->by_value[index][i] ? count_nodes(resolver, field->record, depth + 1) : 1;
        if (inner == 0)
            return 0;
        nodes += inner;
    }
    if (nodes > DL_SLOT_LIMIT) {
        dl_fault(resolver->parse, place, "record '%s' contains more than %u values", record->name,
                 DL_SLOT_LIMIT);
        return 0;
    }
    return resolver->nodes[index] = (uint32_t) nodes;
}

void dl_verify_record(struct dl_resolver *resolver, const struct dl_record *record)
{
    check_paths(resolver, record);
    count_nodes(resolver, record->index, 0);
}
