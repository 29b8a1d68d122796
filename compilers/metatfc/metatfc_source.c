/* SPDX-License-Identifier: Apache-2.0 */
/* Generates metatfc's source: tables, three functions for each record, three for all. */
#include "compilers/metatfc/metatfc_model.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

/* Lines of C that metatfc generates for one record.  In them the number of field I is vI; the
 * current struct is e, e1, ... by depth. */
struct mc_text {
    FILE *out;
    const struct mc_record *mc;
    unsigned depth; /* nesting depth of repeated groups */
};

/* Writes one indented line. */
__attribute__((format(printf, 2, 3))) static void mc_text_line(const struct mc_text *text,
                                                               const char *format, ...)
{
    va_list arguments;
    fprintf(text->out, "%*s", (int) (4 * (text->depth + 1)), "");
    va_start(arguments, format);
    vfprintf(text->out, format, arguments);
    va_end(arguments);
    fputc('\n', text->out);
}

static const char *mc_text_element(unsigned depth, char out[16])
{
    snprintf(out, 16, depth == 0 ? "e" : "e%u", depth);
    return out;
}

/* Writes a C expression for the field's argument. */
static const char *mc_text_argument(const struct mc_text *text, uint32_t i, char out[96])
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

static const char *mc_text_width(const struct mc_text *text, uint32_t i, char out[32])
{
    uint32_t field = text->mc->record->fields[i].width_field;
    if (field == METATF_NO_FIELD)
        return "0";
    snprintf(out, 32, "v%" PRIu32, field);
    return out;
}

static const char *mc_text_value(const struct mc_text *text, uint32_t i, char out[48])
{
    const struct metatf_field *field = &text->mc->record->fields[i];
    if (field->value_field != METATF_NO_FIELD)
        snprintf(out, 48, "v%" PRIu32, field->value_field);
    else
        snprintf(out, 48, "UINT64_C(%" PRIu64 ")", field->value);
    return out;
}

/* Declares `s`, the states of the record's fields, and `c`, the cells.  `side` is the expression
 * for the reader or the writer. */
static void mc_text_declare_states(const struct mc_text *text, const char *side)
{
    mc_text_line(text, "const struct metatf_state *s = %s->current->states + %u;", side,
                 text->mc->record->first_state);
    mc_text_line(text, "uint64_t *c = %s->current->cells;", side);
    mc_text_line(text, "(void) s, (void) c, (void) e;");
}

/* Declares vI, the value of a number from the struct.  For a field that stores a length it is the
 * length of that field. */
static void mc_text_declare_value(const struct mc_text *text, uint32_t i)
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

/* Declares `inner`, the current element of a loop over a repetition. */
static void mc_text_declare_item(const struct mc_text *text, uint32_t i, const char *outer,
                                 const char *inner)
{
    const char *member = text->mc->fields[i].member;
    mc_text_line(text, "const struct %s_%s *%s = &%s->%s_items[i%u];", text->mc->name, member,
                 inner, outer, member, i);
    mc_text_line(text, "(void) %s;", inner);
}

/* ---- the DTD as constants ---- */

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

static void write_tables_of(uint32_t s, const struct metatf_section *section, FILE *out)
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

static void mc_write_tables(const struct mc_model *model, FILE *out)
{
    const struct metatf_dtd *dtd = model->dtd;
    fprintf(out, "static const char text[] =\n    ");
    c_literal_put(out, dtd->text, dtd->text_length);
    fprintf(out, ";\n\n");
    for (uint32_t s = 0; s < dtd->section_count; s++)
        write_tables_of(s, &dtd->sections[s], out);
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

/* ---- reading and writing a record ---- */

static void metatfc_put_fields(struct mc_text *text, uint32_t first, uint32_t count);

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
    metatfc_put_fields(text, i + 1, repeat);
    text->depth--;
    mc_text_line(text, "}");
}

static void metatfc_put_fields(struct mc_text *text, uint32_t first, uint32_t count)
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

static void mc_write_writer(const struct mc_record *mc, FILE *out)
{
    struct mc_text text = {out, mc, 0};
    fprintf(out,
            "static inline uint8_t *write_%u_%u(struct metatf_writer *w, uint8_t *at,\n"
            "                                   const struct %s *e)\n{\n",
            mc->section, mc->index, mc->name);
    mc_text_declare_states(&text, "w");
    metatfc_put_fields(&text, 1, mc->record->field_count - 1);
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

static void mc_write_reader(const struct mc_record *mc, FILE *out)
{
    struct mc_text text = {out, mc, 0};
    fprintf(out,
            "static inline const uint8_t *read_%u_%u(struct metatf_reader *r, const uint8_t *at,\n"
            "                                        struct %s *e)\n{\n",
            mc->section, mc->index, mc->name);
    mc_text_declare_states(&text, "r");
    if (mc->record->field_count > METATF_VALUES_PER_BYTE)
        mc_text_line(&text, "if (!metatf_take_values(r, %u))\n        return at;",
                     mc->record->field_count);
    read_fields(&text, 1, mc->record->field_count - 1);
    fprintf(out, "    return at;\n}\n\n");
}

/* ---- events of any kind ---- */

/* Writes the case label of an event's kind.  Returns false if another record has the same one. */
static bool write_label(const struct mc_record *mc, FILE *out)
{
    if (mc->is_shared)
        return false;
    fprintf(out, "    case ");
    mc_print_kind(mc, out);
    fprintf(out, ":\n");
    return true;
}

/* Writes a switch over sections with a switch over tags in each. */
static void write_get_cases(const struct mc_model *model, FILE *out)
{
    static const char section_end[] =
        "            default:\n                break;\n            }\n"
        "            break;\n";
    uint32_t section = UINT32_MAX;
    for (size_t i = 0; i < model->record_count; i++) {
        const struct mc_record *mc = &model->records[i];
        if (mc->section != section) {
            if (section != UINT32_MAX)
                fputs(section_end, out);
            section = mc->section;
            fprintf(out, "        case %u:\n            switch (tag) {\n",
                    model->dtd->sections[section].number);
        }
        fprintf(out, "            case UINT64_C(%" PRIu64 "):\n                event->kind = ",
                mc->record->tag);
        mc_print_kind(mc, out);
        fprintf(out,
                ";\n                at = read_%u_%u(reader, at, &event->as.%s);\n"
                "                return metatf_commit(reader, at, error);\n",
                mc->section, mc->index, mc->member);
    }
    if (section != UINT32_MAX)
        fputs(section_end, out);
}

static void mc_write_get(const struct mc_model *model, FILE *out)
{
    const char *base = model->base;
    char upper[C_NAME_SIZE];
    c_names_upper(base, upper, sizeof upper);
    fprintf(out,
            "enum step_status %s_get_next_event(struct metatf_reader *reader,\n"
            "                                   struct %s_event *event, struct step_error *error)\n"
            "{\n    for (;;) {\n"
            "        enum step_status status = metatf_fill(reader, error);\n"
            "        if (status != STEP_STATUS_OK)\n            return status;\n"
            "        const uint8_t *at = reader->stream.at + %u;\n"
            "        uint64_t tag = step_number_load(reader->stream.at, %u, reader->big_endian);\n"
            "        event->section = reader->current->section->number;\n"
            "        event->position = reader->current->position;\n"
            "        switch (event->section) {\n",
            base, base, model->dtd->tag_width, model->dtd->tag_width);
    write_get_cases(model, out);
    fprintf(out,
            "        default:\n            break;\n        }\n"
            "        bool is_comment;\n        (void) at;\n"
            "        status = metatf_reader_other(reader, tag, &event->as.comment, &is_comment,\n"
            "                                     error);\n"
            "        if (status != STEP_STATUS_OK)\n            return status;\n"
            "        event->kind = %s_COMMENT;\n"
            "        if (is_comment)\n            return STEP_STATUS_OK;\n    }\n}\n\n",
            upper);
}

static void write_put_one(const struct mc_record *mc, FILE *out)
{
    fprintf(out,
            "        do {\n"
            "            at = metatf_writer_begin(writer, %u, UINT64_C(%" PRIu64 "));\n"
            "            if (at != NULL)\n"
            "                at = write_%u_%u(writer, at, &event->as.%s);\n"
            "        } while (metatf_writer_end(writer, %u, at, NULL, &status, error));\n"
            "        return status;\n",
            mc->section, mc->record->tag, mc->section, mc->index, mc->member, mc->index);
}

/* A global record is put into the section that the event names. */
static void write_put_global(const struct mc_model *model, const struct mc_record *global,
                             FILE *out)
{
    fprintf(out, "        switch (event->section) {\n");
    for (size_t i = 0; i < model->record_count; i++) {
        const struct mc_record *mc = &model->records[i];
        if (mc != global && (!mc->is_shared || strcmp(mc->member, global->member) != 0))
            continue;
        fprintf(out, "        case %u:\n", model->dtd->sections[mc->section].number);
        write_put_one(mc, out);
    }
    fprintf(out, "        default:\n            break;\n        }\n        break;\n");
}

static void mc_write_put(const struct mc_model *model, FILE *out)
{
    char upper[C_NAME_SIZE];
    c_names_upper(model->base, upper, sizeof upper);
    fprintf(out,
            "enum step_status %s_put_event(struct metatf_writer *writer,\n"
            "                              const struct %s_event *event, struct step_error "
            "*error)\n{\n    enum step_status status = STEP_STATUS_OK;\n    uint8_t *at;\n"
            "    uint32_t section = 0;\n    (void) at;\n    switch (event->kind) {\n",
            model->base, model->base);
    for (size_t i = 0; i < model->record_count; i++) {
        const struct mc_record *mc = &model->records[i];
        if (!write_label(mc, out))
            continue;
        if (mc->section == 0)
            write_put_global(model, mc, out);
        else
            write_put_one(mc, out);
    }
    fprintf(out,
            "    case %s_COMMENT:\n"
            "        section = metatf_dtd_section(&%s_dtd, event->section);\n"
            "        return metatf_writer_comment(writer, section, event->as.comment.data,\n"
            "                                     event->as.comment.length, error);\n"
            "    default:\n        break;\n    }\n    (void) status;\n"
            "    return step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET,\n"
            "                          \"no such kind of event, or not in this section\");\n}\n\n",
            upper, model->base);
}

static void mc_write_values(const struct mc_model *model, FILE *out)
{
    const char *base = model->base;
    char upper[C_NAME_SIZE];
    c_names_upper(base, upper, sizeof upper);
    fprintf(out,
            "size_t %s_event_values(const struct %s_event *event,\n"
            "                       const struct metatf_record **record,\n"
            "                       struct metatf_value *values, size_t capacity)\n{\n"
            "    struct list list = {values, capacity, 0};\n    *record = NULL;\n"
            "    switch (event->kind) {\n",
            base, base);
    for (size_t i = 0; i < model->record_count; i++) {
        const struct mc_record *mc = &model->records[i];
        if (!write_label(mc, out))
            continue;
        fprintf(out,
                "        list_%u_%u(&list, &event->as.%s);\n"
                "        *record = &records_%u[%u];\n        break;\n",
                mc->section, mc->index, mc->member, mc->section, mc->index);
    }
    fprintf(out,
            "    default: /* a comment */\n"
            "        add_value(&list, 1, (struct step_bytes){NULL, 0});\n"
            "        add_value(&list, event->as.comment.length, (struct step_bytes){NULL, 0});\n"
            "        add_value(&list, 0, event->as.comment);\n        break;\n    }\n"
            "    return list.count;\n}\n");
}

/* ---- the source ---- */

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
