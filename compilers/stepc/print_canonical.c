/* SPDX-License-Identifier: Apache-2.0 */
/* stepc --print: writes a definition in canonical form, one item per line, without comments. */
#include <string.h>

#include "compilers/stepc/stepc.h"
#include "format/language/dl_tree.h"

static void put_literal(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void canonical_put_attributes(FILE *out, const struct dl_attribute *attributes)
{
    for (const struct dl_attribute *at = attributes; at != NULL; at = at->next) {
        fprintf(out, " <%s:", at->group);
        put_literal(out, at->value);
        fputc('>', out);
    }
}

static void canonical_put_type(FILE *out, const struct dl_type *type)
{
    static const char *const names[] = {"int", "string", "data"};
    if (type->element != NULL) {
        canonical_put_type(out, type->element);
        fputs(type->element->attributes != NULL ? " []" : "[]", out);
    } else {
        fputs(type->kind == STEP_TYPE_RECORD ? type->name : names[type->kind], out);
    }
    canonical_put_attributes(out, type->attributes);
}

static void canonical_put_field(FILE *out, const char *indent, const struct dl_field *field)
{
    fprintf(out, "%s  ", indent);
    canonical_put_type(out, field->type);
    fprintf(out, " %s", field->name);
    if (field->description != NULL) {
        fputc(' ', out);
        put_literal(out, field->description);
    }
    canonical_put_attributes(out, field->attributes);
    fputs(";\n", out);
}

static void put_body(FILE *out, const char *indent, const struct dl_record *record)
{
    if (record->description != NULL) {
        fprintf(out, "%s  ", indent);
        put_literal(out, record->description);
        fputc('\n', out);
    }
    for (const struct dl_attribute *at = record->attributes; at != NULL; at = at->next) {
        fprintf(out, "%s  <%s:", indent, at->group);
        put_literal(out, at->value);
        fputs(">\n", out);
    }
    for (const struct dl_field *at = record->fields; at != NULL; at = at->next)
        canonical_put_field(out, indent, at);
    for (const struct dl_modifier *at = record->modifiers; at != NULL; at = at->next) {
        fprintf(out, "%s  %c%s", indent, at->replaces ? '!' : '~', at->path);
        canonical_put_attributes(out, at->attributes);
        fputs(";\n", out);
    }
}

static void canonical_put_record(FILE *out, const char *indent, const struct dl_record *record)
{
    size_t package = strlen(record->package);
    fprintf(out, "%srecord %s", indent, record->name + package + (package > 0));
    if (record->label != NULL) {
        fputc(' ', out);
        put_literal(out, record->label);
    }
    if (record->parent != NULL)
        fprintf(out, " extends %s%s", record->drops_attributes ? "!" : "", record->parent);
    fputs(" {\n", out);
    put_body(out, indent, record);
    fprintf(out, "%s}\n", indent);
}

void print_canonical(const struct text_output *output)
{
    const char *package = "";
    const struct dl_record *first = dl_definition_tree(output->definition);
    for (const struct dl_record *at = first; at != NULL; at = at->next) {
        bool changes = strcmp(at->package, package) != 0;
        if (changes && *package != '\0')
            fputs("}\n", output->out);
        if (at != first)
            fputc('\n', output->out);
        if (changes && *at->package != '\0')
            fprintf(output->out, "package %s {\n", at->package);
        package = at->package;
        canonical_put_record(output->out, *package != '\0' ? "  " : "", at);
    }
    if (*package != '\0')
        fputs("}\n", output->out);
}
