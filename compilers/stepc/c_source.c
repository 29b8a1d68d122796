/* SPDX-License-Identifier: Apache-2.0 */
/* Generates stepc's C source: unique names, constant tables, then the functions of each record. */
#include "compilers/stepc/stepc.h"

#include <stdlib.h>
#include <string.h>

/* Sets output->prefix to the package of all records, else to the base name. */
static void c_unique_prefix(struct c_output *output)
{
    const struct step_definition *definition = output->definition;
    const char *first = definition->record_count > 0 ? definition->records[0].name : "";
    size_t length = strcspn(first, ".");
    bool shared = first[length] == '.' && length < COMPILER_BASE_SIZE - COMPILER_PREFIX_LIMIT - 2;
    for (size_t i = 0; i < definition->record_count; i++)
        shared = shared && strncmp(definition->records[i].name, first, length + 1) == 0;
    if (shared)
        snprintf(output->prefix, sizeof output->prefix, "%s%.*s", output->names_begin, (int) length,
                 first);
    else
        memcpy(output->prefix, output->base, sizeof output->prefix);
    if (output->names_begin[0] == '\0' &&
        (strcmp(output->prefix, "step") == 0 || strncmp(output->prefix, "step_", 5) == 0))
        strcat(output->prefix, "_");
}

/* Hash table of the names in use; `slots` is a power of two. */
struct taken {
    char **names;
    size_t slots;
};

static size_t c_source_place_of(const struct taken *taken, const char *name)
{
    size_t hash = 5381;
    for (const char *at = name; *at != '\0'; at++)
        hash = hash * 33 + (unsigned char) *at;
    size_t i = hash & (taken->slots - 1);
    while (taken->names[i] != NULL && strcmp(taken->names[i], name) != 0)
        i = (i + 1) & (taken->slots - 1);
    return i;
}

static bool c_source_is_free(const struct taken *taken, const char *name)
{
    return taken->names[c_source_place_of(taken, name)] == NULL && !c_names_is_reserved(name) &&
           !c_names_is_type(name);
}

static bool c_source_take(struct taken *taken, const char *name)
{
    size_t i = c_source_place_of(taken, name);
    if (taken->names[i] == NULL)
        taken->names[i] = strdup(name);
    return taken->names[i] != NULL;
}

enum { NAMES_OF_RECORD = 20, LONGER_NAME = C_NAME_SIZE + 32 };

/* Lists the names declared for a record: its struct, its number, functions and types. */
static size_t list_names(const char *name, char names[NAMES_OF_RECORD][LONGER_NAME])
{
    static const char *const endings[] = {"",         "_put",         "_get",         "_define",
                                          "_look_up", "_get_element", "_get_variant", "_put_slots"};
    size_t count = 0;
    for (; count < sizeof endings / sizeof endings[0]; count++)
        snprintf(names[count], LONGER_NAME, "%s%s", name, endings[count]);
    c_names_upper(name, names[count], LONGER_NAME);
    snprintf(names[count + 1], LONGER_NAME, "%.*s_SLOT_COUNT", C_NAME_SIZE, names[count]);
    return count + 2;
}

static bool all_free(const struct taken *taken, const char *name)
{
    char names[NAMES_OF_RECORD][LONGER_NAME];
    size_t count = list_names(name, names);
    for (size_t i = 0; i < count; i++)
        if (!c_source_is_free(taken, names[i]))
            return false;
    return true;
}

static bool take_all(struct taken *taken, const char *name)
{
    char names[NAMES_OF_RECORD][LONGER_NAME];
    size_t count = list_names(name, names);
    bool good = true;
    for (size_t i = 0; good && i < count; i++)
        good = c_source_take(taken, names[i]);
    return good;
}

/* Adds the names that the header declares for the definition as a whole. */
static bool take_whole(struct taken *taken, const struct c_output *output)
{
    static const char *const endings[] = {"_definition", "_binding", "_bind",   "_unbind",
                                          "_record",     "_create",  "_reader", "_open",
                                          "_next",       "_close",   "_ask"};
    char name[LONGER_NAME], upper[LONGER_NAME];
    bool good = true;
    for (size_t i = 0; good && i < sizeof endings / sizeof endings[0]; i++) {
        snprintf(name, sizeof name, "%s%s", output->base, endings[i]);
        good = c_source_take(taken, name);
    }
    snprintf(name, sizeof name, "%s_record", output->prefix);
    good = good && c_source_take(taken, name);
    snprintf(name, sizeof name, "%s_record_count", output->prefix);
    c_names_upper(name, upper, sizeof upper);
    return good && c_source_take(taken, upper);
}

/* Writes the record's name after the common prefix.  Without a prefix, n_ is prepended if the name
 * starts like the library's names. */
static void begin_name(const struct c_output *output, const struct step_record *record,
                       char name[C_NAME_SIZE])
{
    size_t before = output->names_begin[0] != '\0' ? strlen(output->names_begin) : 2;
    memcpy(name, output->names_begin[0] != '\0' ? output->names_begin : "n_", before);
    c_names_of_record(record->name, name + before, C_NAME_SIZE - before);
    if (output->names_begin[0] == '\0' && strncmp(name + 2, "step_", 5) != 0)
        memmove(name, name + 2, strlen(name + 2) + 1);
}

static bool name_records(struct c_output *output, struct taken *taken)
{
    bool good = take_whole(taken, output);
    for (size_t i = 0; good && i < output->definition->record_count; i++) {
        char name[C_NAME_SIZE];
        begin_name(output, &output->definition->records[i], name);
        while (!all_free(taken, name) && strlen(name) + 2 < sizeof name)
            strcat(name, "_");
        good = take_all(taken, name);
        output->names[i] = good ? strdup(name) : NULL;
        good = output->names[i] != NULL;
    }
    return good;
}

static bool names_are_short(const struct c_output *output, const char *file_name)
{
    for (size_t i = 0; i < output->definition->record_count; i++) {
        const struct step_record *record = &output->definition->records[i];
        bool good = strlen(record->name) * 2 + strlen(output->names_begin) + 8 < C_NAME_SIZE;
        for (size_t k = 0; good && k < record->field_count; k++)
            good = strlen(record->fields[k].name) + 8 < C_NAME_SIZE / 2;
        if (!good) {
            fprintf(stderr, "%s: a name in record %.100s... is too long for C\n", file_name,
                    record->name);
            return false;
        }
    }
    return true;
}

/* Fills output->names.  Each record gets enough underscores for all its names to be unique; earlier
 * records win.  Returns false after printing the error if a name is too long, or starts like the
 * library's names. */
static bool c_unique_names(struct c_output *output, const char *file_name)
{
    struct taken taken = {.slots = 64};
    if (output->names_begin[0] == '\0' && strncmp(output->base, "step_", 5) == 0) {
        fprintf(stderr, "%s: the C name %s is the library's: they begin with step_\n", file_name,
                output->base);
        return false;
    }
    if (!names_are_short(output, file_name))
        return false;
    while (taken.slots < 32 * (output->definition->record_count + 1))
        taken.slots *= 2;
    taken.names = calloc(taken.slots, sizeof *taken.names);
    output->names = calloc(output->definition->record_count + 1, sizeof *output->names);
    bool good = taken.names != NULL && output->names != NULL && name_records(output, &taken);
    if (!good)
        fprintf(stderr, "%s: out of memory\n", file_name);
    for (size_t i = 0; taken.names != NULL && i < taken.slots; i++)
        free(taken.names[i]);
    free(taken.names);
    return good;
}

/* ---- the definition as constant tables ---- */

static void c_source_put_text(FILE *out, const char *text)
{
    if (text == NULL)
        fprintf(out, "NULL");
    else
        c_literal_put(out, text, strlen(text));
}

static void put_attribute_items(FILE *out, const struct step_attributes *attributes)
{
    for (size_t i = 0; i < attributes->count; i++) {
        fprintf(out, "    {");
        c_source_put_text(out, attributes->items[i].group);
        fprintf(out, ", ");
        c_source_put_text(out, attributes->items[i].value);
        fprintf(out, ", %u, %u},\n", attributes->items[i].line, attributes->items[i].column);
    }
}

static void c_source_put_attributes(FILE *out, const struct step_attributes *attributes,
                                    const char *name)
{
    if (attributes->count == 0)
        return;
    fprintf(out, "static const struct step_attribute %s[] = {\n", name);
    put_attribute_items(out, attributes);
    fprintf(out, "};\n");
}

static void put_attributes_use(FILE *out, const struct step_attributes *attributes,
                               const char *name)
{
    if (attributes->count == 0)
        fprintf(out, "{NULL, 0}");
    else
        fprintf(out, "{%s, %zu}", name, attributes->count);
}

static void put_sub_attributes(FILE *out, const struct step_field *field, const char *name)
{
    char item[160];
    if (field->sub_attribute_count == 0)
        return;
    for (size_t i = 0; i < field->sub_attribute_count; i++) {
        snprintf(item, sizeof item, "%s_%zu", name, i);
        c_source_put_attributes(out, &field->sub_attributes[i].attributes, item);
    }
    fprintf(out, "static const struct step_sub_attributes %s[] = {\n", name);
    for (size_t i = 0; i < field->sub_attribute_count; i++) {
        snprintf(item, sizeof item, "%s_%zu", name, i);
        fprintf(out, "    {\"%s\", ", field->sub_attributes[i].path);
        put_attributes_use(out, &field->sub_attributes[i].attributes, item);
        fprintf(out, "},\n");
    }
    fprintf(out, "};\n");
}

static void put_index(FILE *out, uint32_t index)
{
    if (index == STEP_NO_RECORD)
        fprintf(out, "STEP_NO_RECORD");
    else
        fprintf(out, "%u", index);
}

static void put_field_row(FILE *out, const struct step_field *field, uint32_t record, size_t i)
{
    static const char *const kinds[] = {"STEP_TYPE_INT", "STEP_TYPE_STRING", "STEP_TYPE_DATA",
                                        "STEP_TYPE_RECORD"};
    char name[128];
    fprintf(out, "    {\"%s\", ", field->name);
    c_source_put_text(out, field->description);
    fprintf(out, ", %s, ", kinds[field->kind]);
    put_index(out, field->record);
    fprintf(out, ", %u, %u, %s, ", field->array_depth, field->declaring_record,
            field->modified ? "true" : "false");
    snprintf(name, sizeof name, "attributes_%u_%zu", record, i);
    put_attributes_use(out, &field->attributes, name);
    if (field->sub_attribute_count != 0)
        fprintf(out, ", sub_%u_%zu, %zu},\n", record, i, field->sub_attribute_count);
    else
        fprintf(out, ", NULL, 0},\n");
}

static void put_record_tables(FILE *out, const struct step_record *record, uint32_t index)
{
    char name[128];
    snprintf(name, sizeof name, "attributes_%u", index);
    c_source_put_attributes(out, &record->attributes, name);
    for (size_t i = 0; i < record->field_count; i++) {
        snprintf(name, sizeof name, "attributes_%u_%zu", index, i);
        c_source_put_attributes(out, &record->fields[i].attributes, name);
        snprintf(name, sizeof name, "sub_%u_%zu", index, i);
        put_sub_attributes(out, &record->fields[i], name);
    }
    if (record->field_count == 0)
        return;
    fprintf(out, "static const struct step_field fields_%u[] = {\n", index);
    for (size_t i = 0; i < record->field_count; i++)
        put_field_row(out, &record->fields[i], index, i);
    fprintf(out, "};\n");
}

static void put_record_row(FILE *out, const struct step_record *record, uint32_t index)
{
    char name[128];
    fprintf(out, "    {\"%s\", ", record->name);
    c_source_put_text(out, record->label);
    fprintf(out, ", ");
    c_source_put_text(out, record->description);
    fprintf(out, ", ");
    put_index(out, record->parent);
    fprintf(out, ", ");
    snprintf(name, sizeof name, "attributes_%u", index);
    put_attributes_use(out, &record->attributes, name);
    if (record->field_count != 0)
        fprintf(out, ", fields_%u, %zu},\n", index, record->field_count);
    else
        fprintf(out, ", NULL, 0},\n");
}

static void c_tables_put(const struct c_output *output, FILE *out)
{
    const struct step_definition *definition = output->definition;
    for (uint32_t i = 0; i < definition->record_count; i++)
        put_record_tables(out, &definition->records[i], i);
    fprintf(out, "\nstatic const struct step_record records[] = {\n");
    for (uint32_t i = 0; i < definition->record_count; i++)
        put_record_row(out, &definition->records[i], i);
    if (definition->record_count == 0)
        fprintf(out, "    {NULL, NULL, NULL, STEP_NO_RECORD, {NULL, 0}, NULL, 0},\n");
    fprintf(out, "};\n\nstatic const uint32_t by_name[] = {");
    for (uint32_t i = 0; i < definition->record_count; i++)
        fprintf(out, "%s%u,", i % 16 == 0 ? "\n    " : " ", definition->by_name[i]);
    fprintf(out, "%s};\n\nstatic const char text[] =\n    ",
            definition->record_count == 0 ? "0" : "\n");
    c_literal_put(out, definition->text, definition->text_length);
    fprintf(out,
            ";\n\nconst struct step_definition %s_definition = {records, %zu, text, "
            "sizeof text - 1, by_name};\n\n",
            output->base, definition->record_count);
}

/* Marks the records that are entries of a dictionary: a field holds their numbers, or the
 * definition says so. */
static void find_dictionaries(struct c_output *output)
{
    const struct step_definition *definition = output->definition;
    for (size_t i = 0; i < definition->record_count; i++) {
        if (step_attributes_rule(&definition->records[i].attributes, "property", "dictionary", NULL,
                                 NULL))
            output->is_dictionary[i] = true;
        for (size_t j = 0; j < definition->records[i].field_count; j++) {
            const struct step_field *field = &definition->records[i].fields[j];
            if (field->kind == STEP_TYPE_RECORD && step_field_is_identifier(field))
                output->is_dictionary[field->record] = true;
        }
    }
}

bool c_output_init(struct c_output *output, const char *file_name)
{
    c_unique_prefix(output);
    output->is_dictionary = calloc(output->definition->record_count + 1, sizeof(bool));
    if (output->is_dictionary == NULL) {
        fprintf(stderr, "%s: out of memory\n", file_name);
        return false;
    }
    find_dictionaries(output);
    return c_unique_names(output, file_name);
}

void c_output_reset(struct c_output *output)
{
    for (size_t i = 0; output->names != NULL && i < output->definition->record_count; i++)
        free(output->names[i]);
    free(output->names);
    output->names = NULL;
    free(output->is_dictionary);
    output->is_dictionary = NULL;
}

/* Writes the slot of each field, nested records in place, as an initialiser from `path` or as
 * assignments to it. */
static void put_slots(const struct c_output *output, FILE *out, uint32_t index, const char *path,
                      bool assign, size_t *slot)
{
    const struct step_record *record = &output->definition->records[index];
    for (size_t i = 0; i < record->field_count; i++) {
        const struct step_field *field = &record->fields[i];
        char name[C_NAME_SIZE], inner[2 * C_NAME_SIZE];
        snprintf(inner, sizeof inner, "%.500s%.500s", path,
                 c_names_of_member(record, i, name, sizeof name));
        if (step_field_is_nested(field)) {
            strcat(inner, ".");
            put_slots(output, out, field->record, inner, assign, slot);
            continue;
        }
        const char *kind = field->array_depth > 0         ? "array"
                           : step_field_is_variant(field) ? "variant"
                           : step_field_is_identifier(field) || field->kind == STEP_TYPE_INT
                               ? NULL
                               : "bytes";
        bool is_signed =
            kind == NULL && !step_field_is_identifier(field) && !step_field_is_unsigned(field);
        if (assign && kind != NULL)
            fprintf(out, "    %s = *step_slot_%s(slots[%zu]);\n", inner, kind, *slot);
        else if (assign)
            fprintf(out, "    %s = %sslots[%zu];\n", inner, is_signed ? "(int64_t) " : "", *slot);
        else if (kind != NULL)
            fprintf(out, "        step_slot_of_%s(&%s),\n", kind, inner);
        else
            fprintf(out, "        %s%s,\n", is_signed ? "(uint64_t) " : "", inner);
        (*slot)++;
    }
}

static void put_slot_array(const struct c_output *output, FILE *out, uint32_t index,
                           const char *path)
{
    size_t slot = 0;
    fprintf(out, "    const uint64_t slots[] = {\n");
    put_slots(output, out, index, path, false, &slot);
    if (slot == 0)
        fprintf(out, "        0,\n");
    fprintf(out, "    };\n");
}

/* `from` is the call that gives the slots, up to the record's number; `id` its argument behind
 * that. */
static void put_get(const struct c_output *output, FILE *out, uint32_t index, const char *upper,
                    const char *from, const char *id, const char *variable)
{
    size_t slots = step_record_slot_count(output->definition, index), slot = 0;
    char path[16];
    snprintf(path, sizeof path, "%s->", variable);
    fprintf(out,
            "    uint64_t values[%zu];\n"
            "    const uint64_t *slots = %s, %s, %s%zu, values);\n"
            "    if (slots == NULL)\n        return false;\n",
            slots + (slots == 0), from, upper, id, slots);
    put_slots(output, out, index, path, true, &slot);
    if (slot == 0)
        fprintf(out, "    %s->none = 0;\n", variable);
    fprintf(out, "    return true;\n}\n\n");
}

/* Writes the conversions between structs and slots for values in arrays and variants. */
static void put_value_functions(const struct c_output *output, FILE *out, uint32_t index)
{
    const char *name = output->names[index];
    size_t slots = step_record_slot_count(output->definition, index), slot = 0;
    fprintf(out, "void %s_put_slots(const struct %s *record, uint64_t *out)\n{\n", name, name);
    if (slots == 0)
        fprintf(out, "    (void) record;\n    (void) out;\n}\n\n");
    else {
        put_slot_array(output, out, index, "record->");
        fprintf(out, "    for (size_t i = 0; i < %zu; i++)\n        out[i] = slots[i];\n}\n\n",
                slots);
    }
    fprintf(out,
            "bool %s_get_element(const struct step_array *array, size_t index, struct %s *record)"
            "\n{\n    if (index >= array->count)\n        return false;\n",
            name, name);
    if (slots == 0)
        fprintf(out, "    record->none = 0;\n");
    else
        fprintf(out, "    const uint64_t *slots = array->slots + index * %zu;\n", slots);
    put_slots(output, out, index, "record->", true, &slot);
    fprintf(out,
            "    return true;\n}\n\n"
            "bool %s_get_variant(const struct %s_binding *binding,\n"
            "    const struct step_variant *variant, struct %s *record)\n{\n"
            "    const struct step_record_view view = {variant->record, variant->slots};\n"
            "    return variant->slots != NULL && %s_get(binding, &view, record);\n}\n\n",
            name, output->base, name, name);
}

static void put_functions(const struct c_output *output, FILE *out, uint32_t index)
{
    const char *name = output->names[index];
    char upper[C_NAME_SIZE];
    c_names_upper(name, upper, sizeof upper);
    bool empty = step_record_slot_count(output->definition, index) == 0;
    fprintf(out,
            "enum step_status %s_put(struct step_writer *writer, uint64_t stream,\n"
            "    const struct %s *record)\n{\n%s",
            name, name, empty ? "    (void) record;\n" : "");
    put_slot_array(output, out, index, "record->");
    fprintf(out, "    return step_writer_put(writer, stream, %s, slots);\n}\n\n", upper);
    fprintf(out,
            "bool %s_get(const struct %s_binding *binding, const struct step_record_view *view,\n"
            "    struct %s *record)\n{\n",
            name, output->base, name);
    put_get(output, out, index, upper, "step_binding_slots(binding->inner, view", "", "record");
    put_value_functions(output, out, index);
    if (!output->is_dictionary[index])
        return;
    fprintf(out,
            "enum step_status %s_define(struct step_writer *writer, const struct %s *entry,\n"
            "    uint64_t *id)\n{\n%s",
            name, name, empty ? "    (void) entry;\n" : "");
    put_slot_array(output, out, index, "entry->");
    fprintf(out, "    return step_writer_define(writer, %s, slots, id);\n}\n\n", upper);
    fprintf(out,
            "bool %s_look_up(const struct %s_binding *binding,\n"
            "    const struct step_reader *reader, uint64_t id, struct %s *entry)\n{\n",
            name, output->base, name);
    put_get(output, out, index, upper, "step_binding_entry(binding->inner, reader", "id, ",
            "entry");
}

void c_output_source(const void *user, FILE *out)
{
    const struct c_output *output = user;
    fprintf(out, "/* Generated by stepc.  Do not edit. */\n#include \"%s.h\"\n\n", output->file);
    c_tables_put(output, out);
    for (uint32_t i = 0; i < output->definition->record_count; i++)
        put_functions(output, out, i);
}
