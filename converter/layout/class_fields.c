/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the fields in descriptors, and packs those of a hierarchy of classes. */
#include "converter/layout/class_fields.h"

#include <stdlib.h>
#include <string.h>

#include "format/core/checksum.h"
#include "format/core/grow.h"

#define DEPTH_MOST 256u
#define VALUE_DEPTH_MOST 16u

enum shape_state { SHAPE_NEW, SHAPE_WANTED, SHAPE_KNOWN };

struct class_field_entry {
    struct field_counts counts; /* without fields of value classes */
    uint32_t super_id;
    bool known;
    bool is_named;    /* among the value classes */
    bool is_extended; /* has subclasses */
    bool is_fixed;    /* as of field_packing_add() */
    struct step_bytes name;
    size_t first_value, value_count; /* of class_fields.value_fields */
    struct {
        struct value_shape shape;
        enum shape_state state;
    } shapes[2]; /* with references of 4, of 8 bytes */
};

void class_fields_init(struct class_fields *fields, const struct selected_globs *value_globs)
{
    *fields = (struct class_fields){.value_globs = value_globs};
    id_table_init(&fields->classes, sizeof(struct class_field_entry));
}

void class_fields_reset(struct class_fields *fields)
{
    id_table_reset(&fields->classes);
    step_index_reset(&fields->value_names);
    free(fields->value_fields);
}

/* ---- descriptors ---- */

/* Returns the length of the descriptor of a reference, or 0. */
static size_t reference_length(const uint8_t *text, size_t length)
{
    size_t at = 0;
    while (at < length && text[at] == '[')
        at++;
    if (at == length)
        return 0;
    if (text[at] != 'L')
        return at > 0 ? at + 1 : 0;
    const uint8_t *end = memchr(text + at, ';', length - at);
    return end != NULL ? (size_t) (end - text) + 1 : 0;
}

static bool add_value_field(struct class_fields *fields, uint32_t class_id)
{
    if (!STEP_MAKE_ROOM(fields->value_fields, fields->value_field_capacity,
                        fields->value_field_count + 1))
        return false;
    fields->value_fields[fields->value_field_count++] = class_id;
    return true;
}

/* Returns the value class of a descriptor; 0: it is another reference. */
static uint32_t class_fields_value_of(const struct class_fields *fields, const uint8_t *text,
                                      size_t length)
{
    return text[0] == 'L'
               ? class_fields_find_value(fields, (struct step_bytes){text + 1, length - 2})
               : 0;
}

/* Returns false if out of memory.  `is_valid`: the text consists of descriptors. */
static bool count_fields(struct class_fields *fields, struct class_field_entry *entry,
                         struct step_bytes text, bool *is_valid)
{
    static const char primitives[] = "BZCSIFJD"; /* two of each size */
    *is_valid = false;
    for (size_t at = 0; at < text.length;) {
        const char *found = text.data[at] != '\0' ? strchr(primitives, text.data[at]) : NULL;
        size_t length = found != NULL ? 1 : reference_length(text.data + at, text.length - at);
        if (length == 0)
            return true;
        uint32_t value = found == NULL ? class_fields_value_of(fields, text.data + at, length) : 0;
        if (found != NULL)
            entry->counts.primitives[(found - primitives) / 2]++;
        else if (value == 0)
            entry->counts.references++;
        else if (add_value_field(fields, value))
            entry->value_count++;
        else
            return false;
        at += length;
    }
    *is_valid = true;
    return true;
}

/* Fields that HotSpot adds to classes of the JDK: bytes, shorts, ints, words of the machine,
 * references.  The classes that are missing here are recognised by the size of their objects. */
static const struct injected {
    const char *class_name;
    struct field_counts counts;
} injected[] = {
    {"java/lang/String", {{1, 0, 0, 0}, 0}},                    /* flags */
    {"java/lang/ClassLoader", {{0, 0, 0, 1}, 0}},               /* loader_data */
    {"java/lang/Module", {{0, 0, 0, 1}, 0}},                    /* module_entry */
    {"java/lang/InternalError", {{1, 0, 0, 0}, 0}},             /* during_unsafe_access */
    {"java/lang/StackFrameInfo", {{0, 1, 0, 0}, 0}},            /* version */
    {"java/lang/invoke/MemberName", {{0, 0, 0, 1}, 0}},         /* vmindex */
    {"java/lang/invoke/ResolvedMethodName", {{0, 0, 0, 1}, 1}}, /* vmtarget, vmholder */
    {"jdk/internal/reflect/ConstantPool", {{0, 0, 0, 0}, 1}},   /* vmholder */
    /* vmdependencies, last_cleanup */
    {"java/lang/invoke/MethodHandleNatives$CallSiteContext", {{0, 0, 0, 2}, 0}},
};

static bool class_fields_is_text(struct step_bytes name, const char *text)
{
    return strlen(text) == name.length && memcmp(text, name.data, name.length) == 0;
}

static void add_injected(struct step_bytes name, struct field_counts *counts)
{
    for (size_t i = 0; i < sizeof injected / sizeof injected[0]; i++) {
        if (!class_fields_is_text(name, injected[i].class_name))
            continue;
        for (unsigned shift = 0; shift < ELEMENT_SHIFTS; shift++)
            counts->primitives[shift] += injected[i].counts.primitives[shift];
        counts->references += injected[i].counts.references;
    }
}

/* Returns whether JDK 14 and earlier knew the offsets of the class's fields. */
static bool is_fixed(struct step_bytes name)
{
    static const char *const names[] = {"AssertionStatusDirectives",
                                        "Class",
                                        "ClassLoader",
                                        "ref/Reference",
                                        "ref/SoftReference",
                                        "StackTraceElement",
                                        "String",
                                        "Throwable",
                                        "Boolean",
                                        "Character",
                                        "Float",
                                        "Double",
                                        "Byte",
                                        "Short",
                                        "Integer",
                                        "Long"};
    static const char package[] = "java/lang/";
    const size_t length = sizeof package - 1;
    if (name.length <= length || memcmp(name.data, package, length) != 0)
        return false;
    const struct step_bytes rest = {name.data + length, name.length - length};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (class_fields_is_text(rest, names[i]))
            return true;
    return false;
}

/* ---- the classes ---- */

static bool is_named(const struct class_fields *fields, struct step_bytes name)
{
    return fields->value_globs->count > 0 &&
           selected_globs_take(fields->value_globs, trace_class_name_matches, &name);
}

static uint32_t class_fields_hash_of(struct step_bytes name)
{
    return (uint32_t) step_checksum(name.data, name.length);
}

uint32_t class_fields_find_value(const struct class_fields *fields, struct step_bytes name)
{
    uint32_t class_id;
    STEP_INDEX_EACH (&fields->value_names, class_fields_hash_of(name), class_id) {
        const struct class_field_entry *entry = id_table_find(&fields->classes, class_id);
        if (entry->name.length == name.length &&
            (name.length == 0 || memcmp(entry->name.data, name.data, name.length) == 0))
            return class_id;
    }
    return 0;
}

bool class_fields_next_value(const struct class_fields *fields, uint32_t *class_id)
{
    const struct class_field_entry *entry;
    while ((entry = id_table_next(&fields->classes, class_id)) != NULL && !entry->is_named)
        ++*class_id;
    return entry != NULL;
}

bool class_fields_put_name(struct class_fields *fields, const struct trace_layout *layout)
{
    struct class_field_entry *super = id_table_get(&fields->classes, layout->super_id);
    struct class_field_entry *entry = id_table_get(&fields->classes, layout->class_id);
    if (super == NULL || entry == NULL)
        return false;
    super->is_extended = true;
    entry->name = layout->name;
    entry->is_named = is_named(fields, layout->name);
    return !entry->is_named || step_index_add(&fields->value_names,
                                              class_fields_hash_of(layout->name), layout->class_id);
}

bool class_fields_put(struct class_fields *fields, const struct trace_layout *layout)
{
    struct class_field_entry *entry = id_table_get(&fields->classes, layout->class_id);
    if (entry == NULL)
        return false;
    entry->counts = (struct field_counts){.references = 0};
    entry->super_id = layout->super_id;
    entry->first_value = fields->value_field_count;
    entry->value_count = 0;
    if (!count_fields(fields, entry, layout->fields, &entry->known))
        return false;
    add_injected(layout->name, &entry->counts);
    entry->is_fixed = is_fixed(layout->name);
    return true;
}

/* ---- values ---- */

static bool has_fields(const struct class_field_entry *entry)
{
    const struct field_counts *counts = &entry->counts;
    uint32_t count = counts->references;
    for (unsigned shift = 0; shift < ELEMENT_SHIFTS; shift++)
        count += counts->primitives[shift];
    return count > 0 || entry->value_count > 0;
}

/* A value class is final, and inherits no fields. */
static bool can_be_value(const struct class_fields *fields, const struct class_field_entry *entry)
{
    if (!entry->is_named || !entry->known || entry->is_extended || entry->super_id == 0)
        return false;
    uint32_t id = entry->super_id;
    for (unsigned depth = 0; id != 0; depth++) {
        const struct class_field_entry *super = id_table_find(&fields->classes, id);
        if (super == NULL || !super->known || has_fields(super) || depth == DEPTH_MOST)
            return false;
        id = super->super_id;
    }
    return true;
}

struct value_fields {
    struct value_field items[VALUE_FIELDS_MOST];
    size_t count;
    bool failed; /* too many */
};

static void class_fields_put_field(struct value_fields *list, struct value_field field,
                                   uint32_t count)
{
    for (; count > 0 && !list->failed; count--) {
        list->failed = list->count == VALUE_FIELDS_MOST;
        if (!list->failed)
            list->items[list->count++] = field;
    }
}

static struct value_shape compute_shape(const struct class_fields *fields,
                                        const struct class_field_entry *entry,
                                        const struct object_layout *layout, unsigned depth);

/* With depth, so that a chain of classes does not end in the stack's end. */
static struct value_shape shape_at(const struct class_fields *fields, uint32_t class_id,
                                   const struct object_layout *layout, unsigned depth)
{
    struct class_field_entry *entry = id_table_find(&fields->classes, class_id);
    if (depth > VALUE_DEPTH_MOST || entry == NULL || !can_be_value(fields, entry))
        return (struct value_shape){.is_unsure = depth > VALUE_DEPTH_MOST};
    unsigned which = layout->reference == 8;
    if (entry->shapes[which].state == SHAPE_WANTED)
        return (struct value_shape){.is_unsure = true};
    if (entry->shapes[which].state == SHAPE_NEW) {
        entry->shapes[which].state = SHAPE_WANTED;
        entry->shapes[which].shape = compute_shape(fields, entry, layout, depth);
        entry->shapes[which].state = SHAPE_KNOWN;
    }
    return entry->shapes[which].shape;
}

/* A field of the class itself is a reference: the class is not loaded yet. */
static struct value_shape compute_shape(const struct class_fields *fields,
                                        const struct class_field_entry *entry,
                                        const struct object_layout *layout, unsigned depth)
{
    struct value_fields list = {.count = 0};
    bool is_unsure = false;
    const struct value_field reference = {layout->reference, layout->reference, true};
    for (uint32_t shift = 0; shift < ELEMENT_SHIFTS; shift++) {
        const struct value_field primitive = {1u << shift, 1u << shift, false};
        class_fields_put_field(&list, primitive, entry->counts.primitives[shift]);
    }
    class_fields_put_field(&list, reference, entry->counts.references);
    for (size_t i = 0; i < entry->value_count; i++) {
        uint32_t type = fields->value_fields[entry->first_value + i];
        bool is_own = id_table_find(&fields->classes, type) == entry;
        struct value_shape shape = {.is_value = false};
        if (!is_own)
            shape = shape_at(fields, type, layout, depth + 1);
        is_unsure |= shape.is_unsure;
        class_fields_put_field(
            &list,
            shape.is_value ? (struct value_field){shape.size, shape.alignment, false} : reference,
            1);
    }
    if (list.failed)
        return (struct value_shape){.is_unsure = true};
    struct value_shape shape = value_shape_of(list.items, list.count, layout);
    shape.is_unsure |= is_unsure;
    return shape;
}

struct value_shape class_fields_value(const struct class_fields *fields, uint32_t class_id,
                                      const struct object_layout *layout)
{
    return layout->values ? shape_at(fields, class_id, layout, 0)
                          : (struct value_shape){.is_value = false};
}

/* ---- sizes ---- */

/* Returns the class's own fields; those that are flattened are like primitive ones of their
 * size. */
static struct field_counts counts_of(const struct class_fields *fields,
                                     const struct class_field_entry *entry,
                                     const struct object_layout *layout, bool *is_unsure)
{
    struct field_counts counts = entry->counts;
    for (size_t i = 0; i < entry->value_count; i++) {
        struct value_shape shape =
            class_fields_value(fields, fields->value_fields[entry->first_value + i], layout);
        *is_unsure |= shape.is_unsure;
        if (shape.atomic > 0)
            counts.primitives[__builtin_ctz(shape.atomic)]++;
        else
            counts.references++;
    }
    return counts;
}

uint64_t class_fields_size(const struct class_fields *fields, uint32_t class_id,
                           const struct object_layout *layout, bool *is_unsure)
{
    const struct class_field_entry *chain[DEPTH_MOST];
    size_t depth = 0;
    struct value_shape shape = class_fields_value(fields, class_id, layout);
    if (shape.is_value) {
        *is_unsure |= shape.is_unsure;
        return value_shape_object_size(&shape, layout);
    }
    for (; class_id != 0; class_id = chain[depth++]->super_id) {
        const struct class_field_entry *entry = id_table_find(&fields->classes, class_id);
        if (entry == NULL || !entry->known || depth == DEPTH_MOST)
            return 0;
        chain[depth] = entry;
    }
    struct field_packing packing;
    field_packing_init(&packing, layout);
    while (depth > 0) {
        const struct class_field_entry *entry = chain[--depth];
        struct field_counts counts = counts_of(fields, entry, layout, is_unsure);
        field_packing_add(&packing, &counts, entry->is_fixed);
    }
    return packing.failed ? 0 : field_packing_size(&packing);
}
