/* SPDX-License-Identifier: Apache-2.0 */
/* The generated source: tables, then the functions of each record. */
#include "compilers/stepc/c_source.h"

#include <stdlib.h>
#include <string.h>

#include "compilers/c_names.h"
#include "compilers/stepc/c_tables.h"
#include "compilers/stepc/c_unique.h"

/* Which records are entries of a dictionary? */
static void find_dictionaries(struct c_output *output)
{
    const struct step_definition *definition = output->definition;
    for (size_t i = 0; i < definition->record_count; i++)
        for (size_t j = 0; j < definition->records[i].field_count; j++) {
            const struct step_field *field = &definition->records[i].fields[j];
            if (field->kind == STEP_TYPE_RECORD && step_field_is_identifier(field))
                output->is_dictionary[field->record] = true;
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

/* The slot of each field, those of nested records in place: as an initialiser from `path`, or as
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

static void put_get(const struct c_output *output, FILE *out, uint32_t index, const char *upper,
                    const char *from, const char *path, const char *variable)
{
    size_t slots = step_record_slot_count(output->definition, index), slot = 0;
    fprintf(out,
            "    uint64_t values[%zu];\n"
            "    const uint64_t *slots = %s, %s, %zu, values);\n"
            "    if (slots == NULL)\n        return false;\n",
            slots + (slots == 0), from, upper, slots);
    put_slots(output, out, index, path, true, &slot);
    if (slot == 0)
        fprintf(out, "    %s->none = 0;\n", variable);
    fprintf(out, "    return true;\n}\n\n");
}

/* For values in arrays and variants: a struct to slots and back. */
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
    put_get(output, out, index, upper, "step_binding_slots(binding->inner, view", "record->",
            "record");
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
    char from[] = "step_binding_entry(binding->inner, reader";
    size_t slots = step_record_slot_count(output->definition, index), slot = 0;
    fprintf(out,
            "    uint64_t values[%zu];\n"
            "    const uint64_t *slots = %s, %s, id, %zu, values);\n"
            "    if (slots == NULL)\n        return false;\n",
            slots + (slots == 0), from, upper, slots);
    put_slots(output, out, index, "entry->", true, &slot);
    if (slot == 0)
        fprintf(out, "    entry->none = 0;\n");
    fprintf(out, "    return true;\n}\n\n");
}

void c_output_source(const struct c_output *output, FILE *out)
{
    fprintf(out, "/* Generated by stepc.  Do not edit. */\n#include \"%s.h\"\n\n", output->file);
    c_tables_put(output, out);
    for (uint32_t i = 0; i < output->definition->record_count; i++)
        put_functions(output, out, i);
}
