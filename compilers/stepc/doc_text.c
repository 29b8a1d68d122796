/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for documentation of a definition, shared by Markdown and man pages. */
#include <stdlib.h>
#include <string.h>

#include "compilers/stepc/text_outputs.h"

bool doc_children_init(struct doc_children *children, const struct step_definition *definition)
{
    size_t count = definition->record_count;
    children->roots = UINT32_MAX;
    children->first = malloc((count + 1) * sizeof *children->first);
    children->next = malloc((count + 1) * sizeof *children->next);
    if (children->first == NULL || children->next == NULL)
        return false;
    memset(children->first, 0xff, (count + 1) * sizeof *children->first);
    for (uint32_t i = (uint32_t) count; i-- > 0;) {
        uint32_t parent = definition->records[i].parent;
        uint32_t *list = parent == STEP_NO_RECORD ? &children->roots : &children->first[parent];
        children->next[i] = *list;
        *list = i;
    }
    return true;
}

void doc_children_reset(struct doc_children *children)
{
    free(children->first);
    free(children->next);
    *children = (struct doc_children){.first = NULL};
}

void doc_put_type(FILE *out, const struct step_definition *definition,
                  const struct step_field *field)
{
    static const char *const kinds[] = {"int", "string", "data"};
    fputs(field->kind == STEP_TYPE_RECORD ? definition->records[field->record].name
                                          : kinds[field->kind],
          out);
    for (uint32_t i = 0; i < field->array_depth; i++)
        fputs("[]", out);
}

size_t doc_inherited_count(const struct step_definition *definition, uint32_t record)
{
    uint32_t parent = definition->records[record].parent;
    return parent != STEP_NO_RECORD ? definition->records[parent].field_count : 0;
}

size_t doc_own_attributes(const struct step_attributes *attributes,
                          const struct step_attributes *inherited)
{
    size_t i = 0;
    if (inherited == NULL || inherited->count > attributes->count)
        return 0;
    for (; i < inherited->count; i++)
        if (strcmp(attributes->items[i].group, inherited->items[i].group) != 0 ||
            strcmp(attributes->items[i].value, inherited->items[i].value) != 0)
            return 0;
    return i;
}

size_t doc_package_length(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL ? (size_t) (dot - name) + 1 : 0;
}
