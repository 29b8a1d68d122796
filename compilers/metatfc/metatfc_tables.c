/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the DTD as constants into metatfc's generated source. */
#include <inttypes.h>

#include "compilers/metatfc/metatfc_source.h"

static void write_field(const struct metatf_field *field, FILE *out)
{
    fprintf(out,
            "    {\"%s\", \"%s\", %s, %u, %" PRIu32 ", %" PRIu32 "u, UINT64_C(%" PRIu64
            "), %" PRIu32 "u,\n     UINT64_C(%" PRIu64 "), %s, UINT64_C(%" PRIu64 "), %" PRIu32
            "u, %" PRIu32 ", %" PRIu32 "},\n",
            field->name, field->path,
            field->kind == METATF_BYTES ? "METATF_BYTES" : "METATF_NUMBER", field->interpretation,
            field->width, field->width_field, field->argument, field->argument_field, field->stride,
            field->has_value ? "true" : "false", field->value, field->value_field, field->repeat,
            field->cell);
}

static void write_section(uint32_t s, const struct metatf_section *section, FILE *out)
{
    static const char *const roles[] = {"METATF_DATA", "METATF_COMMENT", "METATF_SECTION",
                                        "METATF_METADATA"};
    for (uint32_t r = 0; r < section->record_count; r++) {
        fprintf(out, "static const struct metatf_field fields_%u_%u[] = {\n", s, r);
        for (uint32_t f = 0; f < section->records[r].field_count; f++)
            write_field(&section->records[r].fields[f], out);
        fprintf(out, "};\n");
    }
    fprintf(out, "static const struct metatf_record records_%u[] = {\n", s);
    for (uint32_t r = 0; r < section->record_count; r++) {
        const struct metatf_record *record = &section->records[r];
        fprintf(out, "    {\"%s\", %s, UINT64_C(%" PRIu64 "), fields_%u_%u, %u, %u},\n",
                record->name, roles[record->role], record->tag, s, r, record->field_count,
                record->first_state);
    }
    fprintf(out, "};\n\n");
}

/* Writes the text as string literals, one for each line; it may contain any bytes. */
static void write_text(const struct metatf_dtd *dtd, FILE *out)
{
    fprintf(out, "static const char text[] =\n    \"");
    for (size_t i = 0; i < dtd->text_length; i++) {
        unsigned char byte = (unsigned char) dtd->text[i];
        if (byte == '\n')
            fprintf(out, "\\n\"\n    \"");
        else if (byte == '"' || byte == '\\')
            fprintf(out, "\\%c", byte);
        else if (byte < ' ' || byte > '~' || byte == '?')
            fprintf(out, "\\%03o", byte);
        else
            fputc(byte, out);
    }
    fprintf(out, "\";\n\n");
}

void mc_write_tables(const struct mc_model *model, FILE *out)
{
    const struct metatf_dtd *dtd = model->dtd;
    write_text(dtd, out);
    for (uint32_t s = 0; s < dtd->section_count; s++)
        write_section(s, &dtd->sections[s], out);
    fprintf(out, "static const struct metatf_section sections[] = {\n");
    for (uint32_t s = 0; s < dtd->section_count; s++) {
        const struct metatf_section *section = &dtd->sections[s];
        fprintf(out, "    {\"%s\", %u, %s, records_%u, %u, %u, %u},\n", section->name,
                section->number, section->is_data ? "true" : "false", s, section->record_count,
                section->state_count, section->cell_count);
    }
    fprintf(out, "};\n\n");
    fprintf(out,
            "const struct metatf_dtd %s_dtd = {%" PRIu32 ", sections, %" PRIu32
            ", text, sizeof text - 1};\n\n",
            model->base, dtd->tag_width, dtd->section_count);
}
