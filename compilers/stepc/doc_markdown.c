/* SPDX-License-Identifier: Apache-2.0 */
/* stepc --doc: a definition as a page of Markdown. */
#include <stdlib.h>
#include <string.h>

#include "compilers/stepc/stepc.h"
#include "format/language/dl_tree.h"

/* For each record, the list of its direct children; UINT32_MAX ends a list. */
struct doc_children {
    uint32_t *first; /* first child of each record */
    uint32_t *next;  /* the next child of the same parent */
    uint32_t roots;
};

/* Returns false if out of memory. */
static bool doc_children_init(struct doc_children *children,
                              const struct step_definition *definition)
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

static void doc_children_reset(struct doc_children *children)
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

/* Returns the length of the package in a record's name, with its dot: 5 for "java.Event", 0 without
 * a package. */
static size_t doc_package_length(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL ? (size_t) (dot - name) + 1 : 0;
}

/* Escapes text of the definition, so that it is not read as markup; line feeds would break
 * tables. */
static void markdown_put_text(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        if (strchr("\\`*_[]<>|#~", *text) != NULL)
            fputc('\\', out);
        fputc(*text == '\n' || *text == '\r' ? ' ' : *text, out);
    }
}

static void put_link(const struct text_output *output, uint32_t record)
{
    const char *name = output->definition->records[record].name;
    fprintf(output->out, "[`%s`](#%s)", name, name);
}

static void markdown_put_tree(const struct text_output *output, const struct doc_children *children,
                              uint32_t first, unsigned depth)
{
    for (uint32_t i = first; i != UINT32_MAX; i = children->next[i]) {
        fprintf(output->out, "%*s- ", (int) (2 * depth), "");
        put_link(output, i);
        if (output->definition->records[i].label != NULL) {
            fputs(": ", output->out);
            markdown_put_text(output->out, output->definition->records[i].label);
        }
        fputc('\n', output->out);
        markdown_put_tree(output, children, children->first[i], depth + 1);
    }
}

static void markdown_put_attributes(FILE *out, const struct step_attributes *attributes,
                                    size_t from, const char *path, bool *any)
{
    for (size_t i = from; i < attributes->count; i++) {
        fputs(*any ? ", " : "", out);
        if (path != NULL)
            fprintf(out, "`%s`: ", path);
        fprintf(out, "%s ", attributes->items[i].group);
        markdown_put_text(out, attributes->items[i].value);
        *any = true;
    }
}

static void markdown_put_field(const struct text_output *output, const struct step_field *field)
{
    bool any = false;
    fprintf(output->out, "| `%s` | `", field->name);
    doc_put_type(output->out, output->definition, field);
    fputs("` | ", output->out);
    markdown_put_attributes(output->out, &field->attributes, 0, NULL, &any);
    for (size_t i = 0; i < field->sub_attribute_count; i++)
        markdown_put_attributes(output->out, &field->sub_attributes[i].attributes, 0,
                                field->sub_attributes[i].path, &any);
    fputs(any ? " | " : "| ", output->out);
    if (field->description != NULL)
        markdown_put_text(output->out, field->description);
    fputs(field->description != NULL ? " |\n" : "|\n", output->out);
}

/* Lists the record's own fields, and inherited ones that it changed. */
static void markdown_put_fields(const struct text_output *output, uint32_t index)
{
    const struct step_definition *definition = output->definition;
    const struct step_record *record = &definition->records[index];
    size_t inherited = doc_inherited_count(definition, index);
    bool table = false;
    for (size_t i = 0; i < record->field_count; i++) {
        const struct step_field *field = &record->fields[i];
        const struct step_field *old =
            i < inherited ? &definition->records[record->parent].fields[i] : NULL;
        if (old != NULL && old->attributes.items == field->attributes.items &&
            old->sub_attributes == field->sub_attributes)
            continue;
        if (!table)
            fputs("| field | type | attributes | |\n|---|---|---|---|\n", output->out);
        table = true;
        markdown_put_field(output, field);
    }
    fputs(table ? "\n" : "", output->out);
    if (inherited == 0)
        return;
    fputs("Inherited:", output->out);
    for (size_t i = 0; i < inherited; i++)
        fprintf(output->out, "%s `%s`", i > 0 ? "," : "", record->fields[i].name);
    fputs(".\n\n", output->out);
}

static void put_relations(const struct text_output *output, const struct doc_children *children,
                          uint32_t index)
{
    const struct step_record *record = &output->definition->records[index];
    FILE *out = output->out;
    if (record->parent != STEP_NO_RECORD) {
        fputs("Extends ", out);
        put_link(output, record->parent);
        fputs(".", out);
    }
    for (uint32_t i = children->first[index]; i != UINT32_MAX; i = children->next[i]) {
        bool is_first = i == children->first[index];
        fputs(!is_first                          ? ", "
              : record->parent != STEP_NO_RECORD ? " Extended by "
                                                 : "Extended by ",
              out);
        put_link(output, i);
    }
    if (children->first[index] != UINT32_MAX)
        fputs(".", out);
    if (record->parent != STEP_NO_RECORD || children->first[index] != UINT32_MAX)
        fputs("\n\n", out);
}

static void markdown_put_record(const struct text_output *output,
                                const struct doc_children *children, uint32_t index)
{
    const struct step_definition *definition = output->definition;
    const struct step_record *record = &definition->records[index];
    FILE *out = output->out;
    bool any = false;
    fprintf(out, "### <a id=\"%s\"></a>`%s`", record->name, record->name);
    if (record->label != NULL) {
        fputs(": ", out);
        markdown_put_text(out, record->label);
    }
    fputs("\n\n", out);
    if (record->description != NULL) {
        markdown_put_text(out, record->description);
        fputs("\n\n", out);
    }
    put_relations(output, children, index);
    size_t own = dl_inherited_attributes(definition, index);
    if (own < record->attributes.count) {
        fputs("Attributes: ", out);
        markdown_put_attributes(out, &record->attributes, own, NULL, &any);
        fputs(".\n\n", out);
    }
    markdown_put_fields(output, index);
}

void print_markdown(const struct text_output *output)
{
    const struct step_definition *definition = output->definition;
    struct doc_children children = {.first = NULL};
    size_t package = SIZE_MAX;
    const char *last = "";
    if (!doc_children_init(&children, definition)) {
        doc_children_reset(&children);
        return;
    }
    fprintf(output->out, "# ");
    markdown_put_text(output->out, output->title);
    fprintf(output->out, "\n\n%zu record types.\n\n", definition->record_count);
    markdown_put_tree(output, &children, children.roots, 0);
    fputc('\n', output->out);
    for (uint32_t i = 0; i < definition->record_count; i++) {
        const char *name = definition->records[i].name;
        size_t length = doc_package_length(name);
        if (length > 0 && (length != package || strncmp(last, name, length) != 0))
            fprintf(output->out, "## Package `%.*s`\n\n", (int) length - 1, name);
        else if (length == 0 && package != 0)
            fprintf(output->out, "## Records\n\n");
        package = length;
        last = name;
        markdown_put_record(output, &children, i);
    }
    doc_children_reset(&children);
}
