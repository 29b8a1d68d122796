/* SPDX-License-Identifier: Apache-2.0 */
/* Generates the function that writes a record from its struct. */
#include <inttypes.h>

#include "compilers/metatfc/metatfc_source.h"
#include "compilers/metatfc/metatfc_text.h"

static void put_fields(struct mc_text *text, uint32_t first, uint32_t count);

static void put_repeat(struct mc_text *text, uint32_t i)
{
    uint32_t repeat = text->mc->record->fields[i].repeat;
    char outer[16], inner[16];
    mc_text_element(text->depth, outer);
    mc_text_element(text->depth + 1, inner);
    mc_text_line(text, "if (v%u > METATF_REPEAT_LIMIT / %u)", i, repeat);
    mc_text_line(text, "    w->misfit = %u, w->misfit_width = 9;", i);
    mc_text_line(text,
                 "for (uint64_t i%u = 0; i%u < v%u && metatf_put_element(w, &at, %u); i%u++) {", i,
                 i, i, repeat, i);
    text->depth++;
    mc_text_declare_item(text, i, outer, inner);
    put_fields(text, i + 1, repeat);
    text->depth--;
    mc_text_line(text, "}");
}

static void put_fields(struct mc_text *text, uint32_t first, uint32_t count)
{
    char e[16], buffer[96];
    mc_text_element(text->depth, e);
    for (uint32_t i = first; i < first + count; i++) {
        const struct metatf_field *field = &text->mc->record->fields[i];
        if (field->kind == METATF_BYTES) {
            mc_text_line(text, "metatf_put_bytes(w, &at, &s[%u], %s->%s, %s, %u);", i, e,
                         text->mc->fields[i].member, mc_text_width(text, i, buffer), i);
            continue;
        }
        mc_text_declare_value(text, i);
        mc_text_line(text, "metatf_put_number(w, &at, &s[%u], %s, &c[%u], v%u, %u);", i,
                     mc_text_argument(text, i, buffer), field->cell, i, i);
        if (field->repeat > 0) {
            put_repeat(text, i);
            i += field->repeat;
        }
    }
}

void mc_write_writer(const struct mc_record *mc, FILE *out)
{
    struct mc_text text = {out, mc, 0};
    fprintf(out,
            "static inline uint8_t *write_%u_%u(struct metatf_writer *w, uint8_t *at,\n"
            "                                   const struct %s *e)\n{\n",
            mc->section, mc->index, mc->name);
    mc_text_declare_states(&text, "w");
    put_fields(&text, 1, mc->record->field_count - 1);
    fprintf(out, "    return at;\n}\n\n");
}
