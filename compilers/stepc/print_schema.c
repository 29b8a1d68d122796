/* SPDX-License-Identifier: Apache-2.0 */
/* stepc --json: writes the definition's records as JSON, for programs. */
#include "compilers/stepc/stepc.h"
#include "format/json/json_output.h"

static void schema_put_attributes(struct json_output *json,
                                  const struct step_attributes *attributes)
{
    json_begin_array(json, "attributes");
    for (size_t i = 0; i < attributes->count; i++) {
        json_begin_object(json, NULL);
        json_text(json, "group", attributes->items[i].group);
        json_text(json, "value", attributes->items[i].value);
        json_end_object(json);
    }
    json_end_array(json);
}

static void put_parts(struct json_output *json, const struct step_field *field)
{
    json_begin_array(json, "parts");
    for (size_t i = 0; i < field->sub_attribute_count; i++) {
        json_begin_object(json, NULL);
        json_text(json, "path", field->sub_attributes[i].path);
        schema_put_attributes(json, &field->sub_attributes[i].attributes);
        json_end_object(json);
    }
    json_end_array(json);
}

static void schema_put_field(struct json_output *json, const struct step_definition *definition,
                             const struct step_field *field)
{
    static const char *const kinds[] = {"int", "string", "data"};
    bool is_record = field->kind == STEP_TYPE_RECORD;
    json_begin_object(json, NULL);
    json_text(json, "name", field->name);
    json_text(json, "kind", is_record ? "record" : kinds[field->kind]);
    if (is_record)
        json_text(json, "record", definition->records[field->record].name);
    json_number(json, "array", field->array_depth);
    json_bool(json, "identifier", step_field_is_identifier(field));
    if (field->kind == STEP_TYPE_INT)
        json_bool(json, "unsigned", step_field_is_unsigned(field));
    json_text(json, "declared", definition->records[field->declaring_record].name);
    json_bool(json, "modified", field->modified);
    if (field->description != NULL)
        json_text(json, "description", field->description);
    schema_put_attributes(json, &field->attributes);
    put_parts(json, field);
    json_end_object(json);
}

static void schema_put_record(struct json_output *json, const struct step_definition *definition,
                              uint32_t index)
{
    const struct step_record *record = &definition->records[index];
    json_begin_object(json, NULL);
    json_text(json, "name", record->name);
    json_number(json, "number", index);
    if (record->label != NULL)
        json_text(json, "label", record->label);
    if (record->description != NULL)
        json_text(json, "description", record->description);
    if (record->parent != STEP_NO_RECORD)
        json_text(json, "extends", definition->records[record->parent].name);
    schema_put_attributes(json, &record->attributes);
    json_begin_array(json, "fields");
    for (size_t i = 0; i < record->field_count; i++)
        schema_put_field(json, definition, &record->fields[i]);
    json_end_array(json);
    json_end_object(json);
}

void print_schema(const struct text_output *output)
{
    struct json_output json;
    json_open(&json, output->out);
    json_text(&json, "definition", output->title);
    json_begin_array(&json, "records");
    for (uint32_t i = 0; i < output->definition->record_count; i++)
        schema_put_record(&json, output->definition, i);
    json_end_array(&json);
    json_close(&json);
}
