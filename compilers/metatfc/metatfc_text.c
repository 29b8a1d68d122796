/* SPDX-License-Identifier: Apache-2.0 */
/* Writes indented lines of C, names and declarations for metatfc. */
#include "compilers/metatfc/metatfc_source.h"

#include <inttypes.h>
#include <stdarg.h>

void mc_text_line(const struct mc_text *text, const char *format, ...)
{
    va_list arguments;
    fprintf(text->out, "%*s", (int) (4 * (text->depth + 1)), "");
    va_start(arguments, format);
    vfprintf(text->out, format, arguments);
    va_end(arguments);
    fputc('\n', text->out);
}

const char *mc_text_element(unsigned depth, char out[16])
{
    snprintf(out, 16, depth == 0 ? "e" : "e%u", depth);
    return out;
}

/* Writes a C expression for the field's argument. */
const char *mc_text_argument(const struct mc_text *text, uint32_t i, char out[96])
{
    uint32_t field = text->mc->record->fields[i].argument_field;
    if (field == METATF_NO_FIELD)
        snprintf(out, 96, "s[%" PRIu32 "].argument", i);
    else
        snprintf(out, 96,
                 "s[%" PRIu32 "].argument_by_field ? v%" PRIu32 " : s[%" PRIu32 "].argument", i,
                 field, i);
    return out;
}

const char *mc_text_width(const struct mc_text *text, uint32_t i, char out[32])
{
    uint32_t field = text->mc->record->fields[i].width_field;
    if (field == METATF_NO_FIELD)
        return "0";
    snprintf(out, 32, "v%" PRIu32, field);
    return out;
}

const char *mc_text_value(const struct mc_text *text, uint32_t i, char out[48])
{
    const struct metatf_field *field = &text->mc->record->fields[i];
    if (field->value_field != METATF_NO_FIELD)
        snprintf(out, 48, "v%" PRIu32, field->value_field);
    else
        snprintf(out, 48, "UINT64_C(%" PRIu64 ")", field->value);
    return out;
}

void mc_text_declare_states(const struct mc_text *text, const char *side)
{
    mc_text_line(text, "const struct metatf_state *s = %s->current->states + %u;", side,
                 text->mc->record->first_state);
    mc_text_line(text, "uint64_t *c = %s->current->cells;", side);
    mc_text_line(text, "(void) s, (void) c, (void) e;");
}

void mc_text_declare_value(const struct mc_text *text, uint32_t i)
{
    const struct mc_field *mc = &text->mc->fields[i];
    const struct metatf_field *field = &text->mc->record->fields[i];
    char e[16], buffer[48];
    mc_text_element(text->depth, e);
    if (field->has_value)
        mc_text_line(text, "uint64_t v%u = %s;", i, mc_text_value(text, i, buffer));
    else if (mc->user != METATF_NO_FIELD)
        mc_text_line(text, "uint64_t v%u = %s->%s.length;", i, e,
                     text->mc->fields[mc->user].member);
    else
        mc_text_line(text, "uint64_t v%u = %s->%s;", i, e, mc->member);
}

void mc_text_declare_item(const struct mc_text *text, uint32_t i, const char *outer,
                          const char *inner)
{
    const char *member = text->mc->fields[i].member;
    mc_text_line(text, "const struct %s_%s *%s = &%s->%s_items[i%u];", text->mc->name, member,
                 inner, outer, member, i);
    mc_text_line(text, "(void) %s;", inner);
}
