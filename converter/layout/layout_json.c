/* SPDX-License-Identifier: Apache-2.0 */
/* Writes totals as JSON. */
#include "converter/layout/layout_totals.h"
#include "format/json/json_output.h"

static void put_layouts(const struct layout_totals *totals, struct json_output *json)
{
    json_begin_array(json, "layouts");
    for (size_t i = 0; i < totals->layout_count; i++) {
        const struct object_layout *layout = &totals->layouts[i];
        json_begin_object(json, NULL);
        json_text(json, "name", layout->name);
        json_number(json, "header", layout->header);
        json_number(json, "reference", layout->reference);
        json_number(json, "alignment", layout->alignment);
        json_bool(json, "values", layout->values);
        json_bool(json, "old_fields", layout->old_fields);
        json_number(json, "bytes", totals->all.bytes[i]);
        json_number(json, "error", totals->all.errors[i]);
        json_end_object(json);
    }
    json_end_array(json);
}

void layout_print_json(const struct layout_totals *totals, FILE *out)
{
    struct json_output json;
    json_open(&json, out);
    json_text(&json, "trace", totals->path);
    json_number(&json, "objects", totals->objects);
    json_number(&json, "existing", totals->existing);
    json_bool(&json, "is_exact", totals->uncertain == 0);
    put_layouts(totals, &json);
    json_begin_object(&json, "value_classes");
    json_number(&json, "flattened", totals->values.flat);
    json_number(&json, "large", totals->values.large);
    json_number(&json, "impossible", totals->values.impossible);
    json_end_object(&json);
    json_begin_array(&json, "classes");
    for (size_t i = 0; i < totals->row_count; i++) {
        const struct layout_row *row = &totals->rows[i];
        json_begin_object(&json, NULL);
        json_bytes(&json, "class", row->name);
        json_number(&json, "objects", row->objects);
        json_numbers(&json, "bytes", row->bytes, totals->layout_count, sizeof(uint64_t));
        json_numbers(&json, "error", row->errors, totals->layout_count, sizeof(uint64_t));
        json_end_object(&json);
    }
    json_end_array(&json);
    json_close(&json);
}
