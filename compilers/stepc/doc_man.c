/* SPDX-License-Identifier: Apache-2.0 */
/* stepc --doc=man: a definition as a man page of section 5. */
#include <ctype.h>
#include <string.h>

#include "compilers/stepc/stepc.h"
#include "format/language/dl_tree.h"

/* Writes text as a line of its own, or within a line. */
static void man_put_text(FILE *out, const char *text, bool starts_line)
{
    if (starts_line && (*text == '.' || *text == '\''))
        fputs("\\&", out);
    for (; *text != '\0'; text++) {
        if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-')
            fputs("\\-", out);
        else
            fputc(*text == '\n' || *text == '\r' || *text == '\t' ? ' ' : *text, out);
    }
}

/* Writes an argument of a macro. */
static void put_argument(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text != '\0'; text++)
        if (*text == '"')
            fputs("\\(dq", out);
        else if (*text == '\\')
            fputs("\\e", out);
        else
            fputc(*text == '\n' || *text == '\r' ? ' ' : *text, out);
    fputc('"', out);
}

static void man_put_attributes(FILE *out, const struct step_attributes *attributes, size_t from,
                               const char *path)
{
    for (size_t i = from; i < attributes->count; i++) {
        fputs(".br\n", out);
        if (path != NULL)
            fprintf(out, "%s: ", path);
        fprintf(out, "%s: ", attributes->items[i].group);
        man_put_text(out, attributes->items[i].value, false);
        fputc('\n', out);
    }
}

static void man_put_field(const struct text_output *output, const struct step_field *field)
{
    FILE *out = output->out;
    fprintf(out, ".TP\n\\fB%s\\fR  ", field->name);
    doc_put_type(out, output->definition, field);
    fputc('\n', out);
    if (field->description != NULL)
        man_put_text(out, field->description, true);
    fputs(field->description != NULL ? "\n" : "\\&\n", out);
    man_put_attributes(out, &field->attributes, 0, NULL);
    for (size_t i = 0; i < field->sub_attribute_count; i++)
        man_put_attributes(out, &field->sub_attributes[i].attributes, 0,
                           field->sub_attributes[i].path);
}

static void man_put_record(const struct text_output *output, uint32_t index)
{
    const struct step_definition *definition = output->definition;
    const struct step_record *record = &definition->records[index];
    size_t inherited = doc_inherited_count(definition, index);
    FILE *out = output->out;
    fprintf(out, ".SS %s\n", record->name);
    if (record->label != NULL) {
        fputs(".I ", out);
        put_argument(out, record->label);
        fputs("\n.br\n", out);
    }
    if (record->description != NULL) {
        man_put_text(out, record->description, true);
        fputc('\n', out);
    }
    if (record->parent != STEP_NO_RECORD)
        fprintf(out, ".PP\nExtends %s.\n", definition->records[record->parent].name);
    man_put_attributes(out, &record->attributes, dl_inherited_attributes(definition, index), NULL);
    for (size_t i = inherited; i < record->field_count; i++)
        man_put_field(output, &record->fields[i]);
    if (inherited == 0)
        return;
    fputs(".PP\nInherited:", out);
    for (size_t i = 0; i < inherited; i++)
        fprintf(out, "%s %s", i > 0 ? "," : "", record->fields[i].name);
    fputs(".\n", out);
}

void print_man_page(const struct text_output *output)
{
    FILE *out = output->out;
    fputs(".TH ", out);
    put_argument(out, output->title);
    fputs(" 5 \"\" StepTrace \"Trace definitions\"\n.SH NAME\n", out);
    man_put_text(out, output->title, true);
    fprintf(out, " \\- trace records (%zu types)\n.SH RECORDS\n", output->definition->record_count);
    for (uint32_t i = 0; i < output->definition->record_count; i++)
        man_put_record(output, i);
}
