/* SPDX-License-Identifier: Apache-2.0 */
/* Finds classes of one name by sorting all names. */
#include "converter/trace/class_twins.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/cli/utf8_text.h"

struct named {
    const struct trace_class *class;
    uint32_t id;
};

static int by_name(const void *left, const void *right)
{
    const struct named *a = left, *b = right;
    int order = utf8_order(a->class->name, b->class->name);
    if (order == 0)
        order = (a->class->loader > b->class->loader) - (a->class->loader < b->class->loader);
    return order != 0 ? order : (a->id > b->id) - (a->id < b->id);
}

static bool has_same_name(const struct named *a, const struct named *b)
{
    return utf8_order(a->class->name, b->class->name) == 0;
}

static void class_twins_add(struct class_twins *twins, const struct named *one,
                            bool has_same_loader)
{
    const struct step_bytes *name = &one->class->name;
    size_t size = name->length + 64;
    char **text = id_table_get(&twins->texts, one->id), *made = malloc(size);
    if (text == NULL || made == NULL) {
        free(made);
        return;
    }
    size_t used = name->length;
    if (used > 0)
        memcpy(made, name->data, used);
    if (has_same_loader)
        snprintf(made + used, size - used, " (class %" PRIu32 ")", one->id);
    else
        snprintf(made + used, size - used, " (loader %" PRIu64 ")", one->class->loader);
    *text = made;
}

static bool is_twin_of(const struct named *one, const struct named *other, bool *has_same_loader)
{
    bool is = has_same_name(one, other);
    *has_same_loader |= is && one->class->loader == other->class->loader;
    return is;
}

void class_twins_find(struct class_twins *twins, const struct trace_names *names)
{
    size_t count = 0, room = 0;
    *twins = (struct class_twins){.names = names};
    id_table_init(&twins->texts, sizeof(char *));
    for (uint32_t id = 0; id_table_next(&names->classes, &id) != NULL; id++)
        room++;
    struct named *all = malloc((room + 1) * sizeof *all);
    for (uint32_t id = 0; all != NULL && id_table_next(&names->classes, &id) != NULL; id++)
        if (trace_class_of(names, id)->known)
            all[count++] = (struct named){trace_class_of(names, id), id};
    if (count > 0)
        qsort(all, count, sizeof *all, by_name);
    for (size_t i = 0; i < count; i++) {
        bool has_same_loader = false;
        bool is_twin = i > 0 && is_twin_of(&all[i], &all[i - 1], &has_same_loader);
        is_twin |= i + 1 < count && is_twin_of(&all[i], &all[i + 1], &has_same_loader);
        if (is_twin)
            class_twins_add(twins, &all[i], has_same_loader);
    }
    free(all);
}

void class_twins_reset(struct class_twins *twins)
{
    char **text;
    for (uint32_t id = 0; (text = id_table_next(&twins->texts, &id)) != NULL; id++)
        free(*text);
    id_table_reset(&twins->texts);
}

struct step_bytes class_twins_name(const struct class_twins *twins, uint32_t id)
{
    char *const *text = id_table_find(&twins->texts, id);
    return text != NULL && *text != NULL ? step_text(*text)
                                         : trace_class_of(twins->names, id)->name;
}
