/* SPDX-License-Identifier: Apache-2.0 */
/* Names and types of a stream's columns. */
#include <stdlib.h>
#include <string.h>

#include "converter/tables/arrow_stream.h"

static void release(struct ArrowSchema *schema)
{
    for (int64_t i = 0; schema->children != NULL && i < schema->n_children; i++) {
        struct ArrowSchema *child = schema->children[i];
        if (child != NULL && child->release != NULL)
            child->release(child);
        free(child);
    }
    if (schema->dictionary != NULL && schema->dictionary->release != NULL)
        schema->dictionary->release(schema->dictionary);
    free(schema->dictionary);
    free(schema->children);
    free(schema->private_data); /* the name */
    schema->release = NULL;
}

static bool init(struct ArrowSchema *schema, const char *format, const char *name, bool nullable)
{
    char *copy = strdup(name);
    *schema = (struct ArrowSchema){.format = format,
                                   .name = copy,
                                   .flags = nullable ? ARROW_FLAG_NULLABLE : 0,
                                   .release = release,
                                   .private_data = copy};
    return copy != NULL;
}

static const char *format_of(enum table_type type)
{
    switch (type) {
    case TABLE_UINT:
        return "L";
    case TABLE_BOOL:
        return "b";
    case TABLE_NAME:
        return "i";
    case TABLE_TEXT:
        return "U";
    case TABLE_DATA:
        return "Z";
    case TABLE_REAL:
        return "g";
    default:
        return "l";
    }
}

static bool init_column(struct ArrowSchema *schema, const struct table_column *column)
{
    if (!init(schema, format_of(column->type), column->name, column->nullable))
        return false;
    if (column->type != TABLE_NAME)
        return true;
    schema->dictionary = calloc(1, sizeof *schema->dictionary);
    return schema->dictionary != NULL && init(schema->dictionary, "u", "", false);
}

bool arrow_schema_of(const struct column_reader *reader, struct ArrowSchema *out)
{
    size_t count = column_reader_column_count(reader);
    bool good = init(out, "+s", "", false);
    out->children = calloc(count + 1, sizeof(struct ArrowSchema *));
    good = good && out->children != NULL;
    for (size_t i = 0; good && i < count; i++) {
        out->children[i] = calloc(1, sizeof *out->children[i]);
        out->n_children++;
        good = out->children[i] != NULL &&
               init_column(out->children[i], column_reader_column(reader, i));
    }
    if (!good)
        release(out);
    return good;
}
