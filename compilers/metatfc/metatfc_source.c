/* SPDX-License-Identifier: Apache-2.0 */
/* Generates metatfc's source: tables, three functions for each record, three for all. */
#include "compilers/metatfc/metatfc_source.h"

#include <inttypes.h>

static void list_fields(struct mc_text *text, uint32_t first, uint32_t count)
{
    char outer[16], inner[16];
    mc_text_element(text->depth, outer);
    mc_text_element(text->depth + 1, inner);
    for (uint32_t i = first; i < first + count; i++) {
        const struct metatf_field *field = &text->mc->record->fields[i];
        const char *member = text->mc->fields[i].member;
        if (field->kind == METATF_BYTES) {
            mc_text_line(text, "add_value(list, 0, %s->%s);", outer, member);
            continue;
        }
        mc_text_declare_value(text, i);
        mc_text_line(text, "add_value(list, v%u, (struct step_bytes){NULL, 0});", i);
        if (field->repeat == 0)
            continue;
        mc_text_line(text, "for (uint64_t i%u = 0; i%u < v%u; i%u++) {", i, i, i, i);
        text->depth++;
        mc_text_declare_item(text, i, outer, inner);
        list_fields(text, i + 1, field->repeat);
        text->depth--;
        mc_text_line(text, "}");
        i += field->repeat;
    }
}

static void mc_write_list(const struct mc_record *mc, FILE *out)
{
    struct mc_text text = {out, mc, 0};
    fprintf(out, "static void list_%u_%u(struct list *list, const struct %s *e)\n{\n", mc->section,
            mc->index, mc->name);
    mc_text_line(&text, "(void) e;");
    mc_text_line(&text, "add_value(list, UINT64_C(%" PRIu64 "), (struct step_bytes){NULL, 0});",
                 mc->record->tag);
    list_fields(&text, 1, mc->record->field_count - 1);
    fprintf(out, "}\n\n");
}

void mc_write_source(const void *user, FILE *out)
{
    const struct mc_model *model = user;
    fprintf(out, "/* Made by metatfc from %s.  Do not edit. */\n", model->source);
    fprintf(out, "#include \"%s.h\"\n\n#include <steptrace/metatf_code.h>\n\n", model->file);
    mc_write_tables(model, out);
    fprintf(out,
            "struct list {\n    struct metatf_value *values;\n    size_t capacity;\n"
            "    size_t count;\n};\n\n"
            "static inline void add_value(struct list *list, uint64_t number, struct step_bytes "
            "bytes)\n{\n    if (list->count < list->capacity)\n"
            "        list->values[list->count] = (struct metatf_value){number, bytes};\n"
            "    list->count++;\n}\n\n");
    for (size_t i = 0; i < model->record_count; i++) {
        mc_write_reader(&model->records[i], out);
        mc_write_writer(&model->records[i], out);
        if (!model->records[i].is_shared)
            mc_write_list(&model->records[i], out);
    }
    mc_write_get(model, out);
    mc_write_put(model, out);
    mc_write_values(model, out);
}
