/* SPDX-License-Identifier: Apache-2.0 */
/* Generates the functions that read and write a record. */
#include <inttypes.h>

#include "compilers/metatfc/metatfc_source.h"

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

static void read_fields(struct mc_text *text, uint32_t first, uint32_t count);

static void read_repeat(struct mc_text *text, uint32_t i)
{
    const struct mc_record *mc = text->mc;
    uint32_t repeat = mc->record->fields[i].repeat;
    const char *member = mc->fields[i].member;
    char outer[16], inner[16];
    mc_text_element(text->depth, outer);
    mc_text_element(text->depth + 1, inner);
    mc_text_line(text, "%s->%s_items = NULL;", outer, member);
    mc_text_line(text, "if (v%u > 0 && metatf_take_repeat(r, v%u, %u)) {", i, i, repeat);
    mc_text_line(text, "    struct %s_%s *a%u = metatf_reader_scratch(r, v%u, sizeof *a%u);",
                 mc->name, member, i, i, i);
    mc_text_line(text, "    %s->%s_items = a%u;", outer, member, i);
    mc_text_line(
        text,
        "    for (uint64_t i%u = 0; a%u != NULL && i%u < v%u && metatf_take_element(r, &at); "
        "i%u++) {",
        i, i, i, i, i);
    text->depth++;
    mc_text_line(text, "    struct %s_%s *%s = &a%u[i%u];", mc->name, member, inner, i, i);
    mc_text_line(text, "    (void) %s;", inner);
    read_fields(text, i + 1, repeat);
    text->depth--;
    mc_text_line(text, "    }");
    mc_text_line(text, "}");
}

static void read_fields(struct mc_text *text, uint32_t first, uint32_t count)
{
    char e[16], buffer[96];
    mc_text_element(text->depth, e);
    for (uint32_t i = first; i < first + count; i++) {
        const struct metatf_field *field = &text->mc->record->fields[i];
        const struct mc_field *mc = &text->mc->fields[i];
        if (field->kind == METATF_BYTES) {
            mc_text_line(text, "%s->%s = metatf_take_bytes(r, &at, &s[%u], %s);", e, mc->member, i,
                         mc_text_width(text, i, buffer));
            continue;
        }
        mc_text_line(text, "uint64_t v%u = metatf_take_number(r, &at, &s[%u], %s, &c[%u]);", i, i,
                     mc_text_argument(text, i, buffer), field->cell);
        if (field->has_value)
            mc_text_line(text, "metatf_expect(r, v%u, %s);", i, mc_text_value(text, i, buffer));
        else if (mc->is_hidden)
            mc_text_line(text, "(void) v%u;", i);
        else
            mc_text_line(text, "%s->%s = v%u;", e, mc->member, i);
        if (field->repeat > 0) {
            read_repeat(text, i);
            i += field->repeat;
        }
    }
}

void mc_write_reader(const struct mc_record *mc, FILE *out)
{
    struct mc_text text = {out, mc, 0};
    fprintf(out,
            "static inline const uint8_t *read_%u_%u(struct metatf_reader *r, const uint8_t *at,\n"
            "                                        struct %s *e)\n{\n",
            mc->section, mc->index, mc->name);
    mc_text_declare_states(&text, "r");
    read_fields(&text, 1, mc->record->field_count - 1);
    fprintf(out, "    return at;\n}\n\n");
}
