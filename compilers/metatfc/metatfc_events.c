/* SPDX-License-Identifier: Apache-2.0 */
/* Generates the functions for events of any kind: get the next, put one, list one's values. */
#include <inttypes.h>
#include <string.h>

#include "compilers/metatfc/metatfc_source.h"

/* Writes the case label of an event's kind.  Returns false if another record has the same one. */
static bool write_label(const struct mc_model *model, const struct mc_record *mc, FILE *out)
{
    if (mc->is_shared)
        return false;
    fprintf(out, "    case ");
    mc_print_kind(model, mc, out);
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
        mc_print_kind(model, mc, out);
        fprintf(out,
                ";\n                at = read_%u_%u(reader, at, &event->as.%s);\n"
                "                return metatf_commit(reader, at, error);\n",
                mc->section, mc->index, mc->member);
    }
    if (section != UINT32_MAX)
        fputs(section_end, out);
}

void mc_write_get(const struct mc_model *model, FILE *out)
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

void mc_write_put(const struct mc_model *model, FILE *out)
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
        if (!write_label(model, mc, out))
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

void mc_write_values(const struct mc_model *model, FILE *out)
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
        if (!write_label(model, mc, out))
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
