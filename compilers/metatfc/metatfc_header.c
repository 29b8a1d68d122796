/* SPDX-License-Identifier: Apache-2.0 */
/* Generates metatfc's header: a struct for each record, the event type, the functions. */
#include <string.h>

#include "compilers/metatfc/metatfc_model.h"

static void write_members(const struct mc_record *mc, uint32_t first, uint32_t count, FILE *out)
{
    bool any = false;
    for (uint32_t i = first; i < first + count; i++) {
        const struct metatf_field *field = &mc->record->fields[i];
        if (!mc->fields[i].is_hidden) {
            const char *type = field->kind == METATF_BYTES ? "struct step_bytes" : "uint64_t";
            fprintf(out, "    %s %s;\n", type, mc->fields[i].member);
            any = true;
        }
        if (field->repeat > 0) {
            fprintf(out, "    const struct %s_%s *%s_items; /* as many as %s says */\n", mc->name,
                    mc->fields[i].member, mc->fields[i].member, mc->fields[i].member);
            i += field->repeat;
            any = true;
        }
    }
    if (!any)
        fprintf(out, "    char nothing; /* C has no empty structs */\n");
}

/* C needs the element structs before the structs that contain them. */
static void write_elements(const struct mc_record *mc, uint32_t first, uint32_t count, FILE *out)
{
    for (uint32_t i = first; i < first + count; i++) {
        uint32_t repeat = mc->record->fields[i].repeat;
        if (repeat == 0)
            continue;
        write_elements(mc, i + 1, repeat, out);
        fprintf(out, "struct %s_%s {\n", mc->name, mc->fields[i].member);
        write_members(mc, i + 1, repeat, out);
        fprintf(out, "};\n\n");
        i += repeat;
    }
}

static void write_structs(const struct mc_model *model, FILE *out)
{
    for (size_t i = 0; i < model->record_count; i++) {
        const struct mc_record *mc = &model->records[i];
        if (mc->is_shared)
            continue;
        write_elements(mc, 1, mc->record->field_count - 1, out);
        fprintf(out, "struct %s {\n", mc->name);
        write_members(mc, 1, mc->record->field_count - 1, out);
        fprintf(out, "};\n\n");
    }
}

static void write_event(const struct mc_model *model, FILE *out)
{
    char upper[C_NAME_SIZE];
    c_names_upper(model->base, upper, sizeof upper);
    fprintf(out, "enum %s_kind {\n", model->base);
    for (size_t i = 0; i < model->record_count; i++) {
        if (model->records[i].is_shared)
            continue;
        fprintf(out, "    ");
        mc_print_kind(&model->records[i], out);
        fprintf(out, ",\n");
    }
    fprintf(out, "    %s_COMMENT\n};\n\n", upper);
    fprintf(out,
            "/* Any event.  `section` is the number of the section it stands in, `position` its\n"
            " * offset there (a writer ignores it). */\n"
            "struct %s_event {\n    enum %s_kind kind;\n    uint32_t section;\n"
            "    uint64_t position;\n    union {\n        struct step_bytes comment;\n",
            model->base, model->base);
    for (size_t i = 0; i < model->record_count; i++)
        if (!model->records[i].is_shared)
            fprintf(out, "        struct %s %s;\n", model->records[i].name,
                    model->records[i].member);
    fprintf(out, "    } as;\n};\n\n");
}

static void write_functions(const struct mc_model *model, FILE *out)
{
    const char *base = model->base;
    fprintf(out,
            "/* The DTD that all of this was made from. */\n"
            "extern const struct metatf_dtd %s_dtd;\n\n",
            base);
    fprintf(out,
            "/* The next event: END after the last.  What it points to lives until the next call.\n"
            " * The reader was created with %s_dtd, or with the DTD of the file once\n"
            " * metatf_reader_check() found it to be the same. */\n"
            "enum step_status %s_get_next_event(struct metatf_reader *reader,\n"
            "    struct %s_event *event, struct step_error *error);\n\n",
            base, base, base);
    fprintf(out,
            "/* Writes the event; of records of one section `section` need not be set. */\n"
            "enum step_status %s_put_event(struct metatf_writer *writer,\n"
            "    const struct %s_event *event, struct step_error *error);\n\n",
            base, base);
    fprintf(out,
            "/* The event as metatf_reader_next() gives it.  Returns how many values it has and\n"
            " * fills in at most `capacity` of them; `*record` is its record in the DTD. */\n"
            "size_t %s_event_values(const struct %s_event *event,\n"
            "    const struct metatf_record **record, struct metatf_value *values,\n"
            "    size_t capacity);\n\n",
            base, base);
}

void mc_write_header(const void *user, FILE *out)
{
    const struct mc_model *model = user;
    char upper[C_NAME_SIZE];
    c_names_upper(model->base, upper, sizeof upper);
    fprintf(out, "/* Made by metatfc from %s.  Do not edit. */\n", model->source);
    fprintf(out, "#ifndef %s_H\n#define %s_H\n\n#include <steptrace/metatf.h>\n\n", upper, upper);
    fprintf(out, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    write_structs(model, out);
    write_event(model, out);
    write_functions(model, out);
    fprintf(out, "#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}
