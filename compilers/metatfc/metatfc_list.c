/* SPDX-License-Identifier: Apache-2.0 */
/* Generates the function that lists a record's values in the order of its fields. */
#include <inttypes.h>

#include "compilers/metatfc/metatfc_source.h"
#include "compilers/metatfc/metatfc_text.h"

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

void mc_write_list(const struct mc_record *mc, FILE *out)
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
