/* SPDX-License-Identifier: Apache-2.0 */
/* Adds up arrays one by one, since their lengths differ, and instances by their number. */
#include "analyses/layout/layout_totals.h"

#include <stdlib.h>
#include <string.h>

#include "converter/containers/no_memory.h"

#define SIZE_MOST (UINT64_C(1) << 40) /* of an object: a Java array has fewer bytes */

enum class_kind { CLASS_NEW, CLASS_OF_INSTANCES, CLASS_OF_PRIMITIVES, CLASS_OF_REFERENCES };

struct class_total {
    uint64_t objects, bytes;
    uint64_t least, most; /* sizes */
    uint8_t kind;         /* enum class_kind */
    uint8_t shift;        /* logarithm of an element's size */
    uint32_t values_of;   /* of arrays: the named class of the elements; 0: none */
    uint64_t odd_bytes;   /* of arrays whose size is that of no length */
    uint64_t arrays[LAYOUTS_MOST];
};

void layout_totals_init(struct layout_totals *totals, const struct object_layout *traced,
                        const struct layout_changes *changes,
                        const struct selected_globs *value_globs, const struct trace_names *names)
{
    *totals = (struct layout_totals){.names = names, .layouts = {*traced}, .layout_count = 1};
    for (size_t i = 0; i < changes->count; i++)
        totals->layouts[totals->layout_count++] = object_layout_changed(traced, &changes->items[i]);
    id_table_init(&totals->classes, sizeof(struct class_total));
    class_fields_init(&totals->fields, value_globs);
}

void layout_totals_reset(struct layout_totals *totals)
{
    id_table_reset(&totals->classes);
    class_fields_reset(&totals->fields);
    free(totals->rows);
}

/* ---- objects ---- */

static void find_kind(const struct layout_totals *totals, uint32_t class_id,
                      struct class_total *class)
{
    static const char primitives[] = "BZCSIFJD"; /* two of each size */
    struct step_bytes name = trace_class_of(totals->names, class_id)->name;
    if (name.length < 2 || name.data[0] != '[') {
        class->kind = CLASS_OF_INSTANCES;
        return;
    }
    const char *found =
        name.length == 2 && name.data[1] != '\0' ? strchr(primitives, name.data[1]) : NULL;
    class->kind = found != NULL ? CLASS_OF_PRIMITIVES : CLASS_OF_REFERENCES;
    class->shift = found != NULL ? (uint8_t) ((found - primitives) / 2)
                                 : (uint8_t) object_layout_reference_shift(&totals->layouts[0]);
    if (name.length > 3 && name.data[1] == 'L')
        class->values_of = class_fields_find_value(
            &totals->fields, (struct step_bytes){name.data + 2, name.length - 3});
}

/* Returns the size of an array of references, or of values. */
static uint64_t references_size(const struct layout_totals *totals, const struct class_total *class,
                                uint64_t length, const struct object_layout *layout)
{
    unsigned shift = object_layout_reference_shift(layout);
    if (class->values_of != 0) {
        struct value_shape shape = class_fields_value(&totals->fields, class->values_of, layout);
        if (shape.atomic > 0)
            return value_array_size(length, (unsigned) __builtin_ctz(shape.atomic), layout);
    }
    return object_layout_align(layout,
                               object_layout_elements_at(layout, shift) + (length << shift));
}

/* Adds an array of that many elements to all layouts. */
static inline void add_array(const struct layout_totals *totals, struct class_total *class,
                             uint64_t length)
{
    for (size_t i = 0; i < totals->layout_count; i++) {
        const struct object_layout *layout = &totals->layouts[i];
        uint64_t at = object_layout_elements_at(layout, class->shift);
        class->arrays[i] += class->kind == CLASS_OF_REFERENCES
                                ? references_size(totals, class, length, layout)
                                : object_layout_align(layout, at + (length << class->shift));
    }
}

static inline void layout_totals_put_array(const struct layout_totals *totals,
                                           struct class_total *class,
                                           const struct trace_event *event)
{
    const struct object_layout *traced = &totals->layouts[0];
    uint64_t at = object_layout_elements_at(traced, class->shift) + event->padding;
    uint64_t bytes = event->size - at, length = bytes >> class->shift;
    if (event->size < at || length << class->shift != bytes ||
        event->padding >= traced->alignment) {
        class->odd_bytes += event->size;
        for (size_t i = 0; i < totals->layout_count; i++)
            class->arrays[i] += event->size;
    } else {
        add_array(totals, class, length);
    }
}

static inline bool add_size(struct class_total *class, uint64_t size)
{
    if (class->objects++ == 0)
        class->least = class->most = size;
    class->least = size < class->least ? size : class->least;
    class->most = size > class->most ? size : class->most;
    return size <= SIZE_MOST && !__builtin_add_overflow(class->bytes, size, &class->bytes) &&
           class->bytes <= UINT64_MAX / 16;
}

enum step_status layout_totals_put(void *layout_totals_pointer, const struct trace_event *events,
                                   size_t count, struct step_error *error)
{
    struct layout_totals *totals = layout_totals_pointer;
    for (size_t i = 0; i < count; i++) {
        const struct trace_event *event = &events[i];
        if (event->kind != EVENT_OBJECT_ALLOC)
            continue;
        struct class_total *class = id_table_get(&totals->classes, event->class_id);
        if (class == NULL)
            return no_memory(error);
        if (class->kind == CLASS_NEW)
            find_kind(totals, event->class_id, class);
        if (!add_size(class, event->size))
            return step_error_set(error, STEP_STATUS_CORRUPT, totals->path, STEP_NO_OFFSET,
                                  "the sizes of the objects are too large");
        if (class->kind != CLASS_OF_INSTANCES)
            layout_totals_put_array(totals, class, event);
        totals->instances += class->kind == CLASS_OF_INSTANCES;
        totals->objects++;
        totals->existing += (event->flags & TRACE_EXISTING) != 0;
    }
    return STEP_STATUS_OK;
}

enum step_status layout_totals_put_name(void *totals_of, const struct trace_layout *layout)
{
    struct layout_totals *totals = totals_of;
    return class_fields_put_name(&totals->fields, layout) ? STEP_STATUS_OK : STEP_STATUS_NO_MEMORY;
}

enum step_status layout_totals_put_fields(void *totals_of, const struct trace_layout *layout)
{
    struct layout_totals *totals = totals_of;
    totals->classes_with_fields++;
    return class_fields_put(&totals->fields, layout) ? STEP_STATUS_OK : STEP_STATUS_NO_MEMORY;
}

/* ---- results ---- */

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* What the model does not explain of the traced size (fields that HotSpot adds, contended fields,
 * static fields in java.lang.Class) may have any size from nothing to twice its own, and moves what
 * is rounded by up to an alignment. */
static void put_instances(const struct layout_totals *totals, uint32_t class_id,
                          const struct class_total *class, struct layout_row *row)
{
    bool is_unsure = false;
    uint64_t own = class_fields_size(&totals->fields, class_id, &totals->layouts[0], &is_unsure);
    bool exact = own != 0 && own == class->least && own == class->most;
    for (size_t i = 1; i < totals->layout_count; i++) {
        const struct object_layout *layout = &totals->layouts[i];
        is_unsure = false;
        uint64_t other = class_fields_size(&totals->fields, class_id, layout, &is_unsure);
        bool is_value = class_fields_value(&totals->fields, class_id, layout).is_value;
        uint64_t rounding = layout->alignment + totals->layouts[0].alignment;
        uint64_t unexplained = distance(class->bytes, class->objects * own);
        row->bytes[i] = exact ? class->objects * other
                              : class->bytes + class->objects * other - class->objects * own;
        row->errors[i] = exact ? 0 : unexplained + class->objects * rounding;
        if (is_value || is_unsure) /* a value may be in a field, or in a register */
            row->errors[i] += row->bytes[i];
        if (own == 0 || other == 0) {
            row->bytes[i] = class->bytes;
            row->errors[i] = class->bytes + class->objects * rounding;
        }
    }
}

static void layout_totals_put_row(const struct layout_totals *totals, uint32_t class_id,
                                  const struct class_total *class, struct layout_row *row)
{
    *row = (struct layout_row){.name = trace_class_of(totals->names, class_id)->name,
                               .objects = class->objects,
                               .bytes = {class->bytes}};
    if (class->kind == CLASS_OF_INSTANCES) {
        put_instances(totals, class_id, class, row);
        return;
    }
    for (size_t i = 1; i < totals->layout_count; i++) {
        row->bytes[i] = class->arrays[i];
        row->errors[i] = 2 * class->odd_bytes;
        if (class_fields_value(&totals->fields, class->values_of, &totals->layouts[i]).is_unsure)
            row->errors[i] += 2 * row->bytes[i];
    }
}

static void layout_totals_add_row(struct layout_totals *totals, const struct layout_row *row)
{
    bool is_uncertain = false;
    totals->all.objects += row->objects;
    for (size_t i = 0; i < totals->layout_count; i++) {
        totals->all.bytes[i] += row->bytes[i];
        totals->all.errors[i] += row->errors[i];
        is_uncertain |= row->errors[i] != 0;
    }
    totals->uncertain += is_uncertain;
}

static int layout_totals_compare_rows(const void *left, const void *right)
{
    const struct layout_row *a = left, *b = right;
    if (a->bytes[0] != b->bytes[0])
        return a->bytes[0] < b->bytes[0] ? 1 : -1;
    size_t common = a->name.length < b->name.length ? a->name.length : b->name.length;
    int order = common > 0 ? memcmp(a->name.data, b->name.data, common) : 0;
    if (order != 0)
        return order;
    return (a->name.length > b->name.length) - (a->name.length < b->name.length);
}

static void count_values(struct layout_totals *totals)
{
    const struct object_layout *layout = totals->layouts;
    while (layout < totals->layouts + totals->layout_count && !layout->values)
        layout++;
    if (layout == totals->layouts + totals->layout_count)
        return;
    for (uint32_t id = 0; class_fields_next_value(&totals->fields, &id); id++) {
        struct value_shape shape = class_fields_value(&totals->fields, id, layout);
        if (!shape.is_value)
            totals->values.impossible++;
        else if (shape.atomic > 0)
            totals->values.flat++;
        else
            totals->values.large++;
    }
}

bool layout_totals_finish(struct layout_totals *totals)
{
    const struct class_total *class;
    size_t count = 0;
    for (uint32_t id = 0; (class = id_table_next(&totals->classes, &id)) != NULL; id++)
        count += class->objects > 0;
    totals->rows = calloc(count + 1, sizeof *totals->rows);
    if (totals->rows == NULL)
        return false;
    for (uint32_t id = 0; (class = id_table_next(&totals->classes, &id)) != NULL; id++) {
        if (class->objects == 0)
            continue;
        struct layout_row *row = &totals->rows[totals->row_count++];
        layout_totals_put_row(totals, id, class, row);
        layout_totals_add_row(totals, row);
    }
    count_values(totals);
    qsort(totals->rows, totals->row_count, sizeof *totals->rows, layout_totals_compare_rows);
    return true;
}
