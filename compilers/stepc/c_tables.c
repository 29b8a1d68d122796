/* SPDX-License-Identifier: Apache-2.0 */
/* The generated source's first part: the definition as constant tables. */
#include "compilers/stepc/c_tables.h"

#include <string.h>

/* A C string literal, one source line for each line of the text. */
static void put_literal(FILE *out, const char *text, size_t length)
{
    fputc('"', out);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char) text[i];
        if (c == '\n')
            fprintf(out, "\\n%s", i + 1 < length ? "\"\n    \"" : "");
        else if (c == '"' || c == '\\' || c == '?')
            fprintf(out, "\\%c", c);
        else if (c < 0x20 || c >= 0x7f)
            fprintf(out, "\\%03o", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

static void put_text(FILE *out, const char *text)
{
    if (text == NULL)
        fprintf(out, "NULL");
    else
        put_literal(out, text, strlen(text));
}

static void put_attribute_items(FILE *out, const struct step_attributes *attributes)
{
    for (size_t i = 0; i < attributes->count; i++) {
        fprintf(out, "    {");
        put_text(out, attributes->items[i].group);
        fprintf(out, ", ");
        put_text(out, attributes->items[i].value);
        fprintf(out, ", %u, %u},\n", attributes->items[i].line, attributes->items[i].column);
    }
}

static void put_attributes(FILE *out, const struct step_attributes *attributes, const char *name)
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
        put_attributes(out, &field->sub_attributes[i].attributes, item);
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
    put_text(out, field->description);
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
    put_attributes(out, &record->attributes, name);
    for (size_t i = 0; i < record->field_count; i++) {
        snprintf(name, sizeof name, "attributes_%u_%zu", index, i);
        put_attributes(out, &record->fields[i].attributes, name);
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
    put_text(out, record->label);
    fprintf(out, ", ");
    put_text(out, record->description);
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

void c_tables_put(const struct c_output *output, FILE *out)
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
    put_literal(out, definition->text, definition->text_length);
    fprintf(out,
            ";\n\nconst struct step_definition %s_definition = {records, %zu, text, "
            "sizeof text - 1, by_name};\n\n",
            output->base, definition->record_count);
}
