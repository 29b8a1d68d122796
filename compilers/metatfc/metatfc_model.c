/* SPDX-License-Identifier: Apache-2.0 */
/* Assigns C names to the parts of a DTD. */
#include "compilers/metatfc/metatfc_model.h"

#include <stdlib.h>
#include <string.h>

static char *format_name(const char *format, const char *one, const char *two, const char *three)
{
    size_t space = strlen(one) + strlen(two) + strlen(three) + 16;
    char *name = malloc(space);
    if (name != NULL)
        snprintf(name, space, format, one, two, three);
    return name;
}

/* Converts "vfield.length" to "vfield_length"; a keyword gets a trailing underscore. */
static char *member_of(const char *path)
{
    char name[C_NAME_SIZE];
    const struct step_field field = {.name = path};
    char *member = format_name("%s%s%s", c_names_of_field(&field, name, sizeof name), "", "");
    for (char *at = member; at != NULL && *at != '\0'; at++)
        if (*at == '.')
            *at = '_';
    return member;
}

static bool is_taken(const struct mc_record *record, uint32_t count, const char *member)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(record->fields[i].member, member) == 0)
            return true;
    return false;
}

static bool name_field(struct mc_record *record, uint32_t i)
{
    struct mc_field *field = &record->fields[i];
    field->member = member_of(record->record->fields[i].path);
    while (field->member != NULL && is_taken(record, i, field->member)) {
        char *longer = format_name("%s_%s%s", field->member, "", "");
        free(field->member);
        field->member = longer;
    }
    return field->member != NULL;
}

/* Returns the index of the counter of the repeated group that contains the field, or 0. */
static uint32_t group_of(const struct metatf_record *record, uint32_t field)
{
    uint32_t group = 0;
    for (uint32_t i = 0; i < field; i++)
        if (record->fields[i].repeat > 0 && field <= i + record->fields[i].repeat)
            group = i;
    return group;
}

static void find_hidden(struct mc_record *mc)
{
    const struct metatf_record *record = mc->record;
    for (uint32_t i = 0; i < record->field_count; i++)
        mc->fields[i].user = METATF_NO_FIELD;
    for (uint32_t i = record->field_count; i-- > 0;) {
        uint32_t width = record->fields[i].width_field;
        if (width != METATF_NO_FIELD && !record->fields[width].has_value &&
            record->fields[width].repeat == 0 && group_of(record, i) == group_of(record, width))
            mc->fields[width].user = i;
    }
    for (uint32_t i = 0; i < record->field_count; i++)
        mc->fields[i].is_hidden =
            record->fields[i].has_value || mc->fields[i].user != METATF_NO_FIELD;
}

static bool metatfc_model_add_record(struct mc_model *model, uint32_t section, uint32_t index,
                                     bool is_global)
{
    const struct metatf_section *home = &model->dtd->sections[section];
    struct mc_record *record = &model->records[model->record_count++];
    *record = (struct mc_record){.record = &home->records[index],
                                 .section = section,
                                 .index = index,
                                 .is_shared = is_global && section > 0};
    record->member = is_global ? member_of(record->record->name)
                               : format_name("%s_%s%s", home->name, record->record->name, "");
    record->fields = calloc(record->record->field_count, sizeof *record->fields);
    if (record->member == NULL || record->fields == NULL)
        return false;
    record->name = format_name("%s_%s%s", model->base, record->member, "");
    for (uint32_t i = 0; i < record->record->field_count; i++)
        if (!name_field(record, i))
            return false;
    find_hidden(record);
    return record->name != NULL;
}

static bool metatfc_model_check_names(const struct mc_model *model)
{
    for (size_t i = 0; i < model->record_count; i++)
        for (size_t k = 0; k < i; k++) {
            const struct mc_record *one = &model->records[i];
            const struct mc_record *other = &model->records[k];
            bool clash = strcmp(one->member, other->member) == 0 &&
                         !(one->is_shared && (other->is_shared || other->section == 0));
            if (clash || strcmp(one->member, "comment") == 0) {
                fprintf(stderr, "%s: two records have the C name %s\n", model->source, one->name);
                return false;
            }
        }
    return true;
}

bool mc_model_init(struct mc_model *model)
{
    const struct metatf_dtd *dtd = model->dtd;
    size_t count = 1;
    for (uint32_t s = 0; s < dtd->section_count; s++)
        count += dtd->sections[s].record_count;
    model->records = calloc(count, sizeof *model->records);
    bool good = model->records != NULL;
    uint32_t globals = dtd->sections[0].record_count;
    for (uint32_t s = 0; s < dtd->section_count && good; s++) {
        const struct metatf_section *section = &dtd->sections[s];
        if (section->is_data)
            continue;
        for (uint32_t r = 0; r < section->record_count && good; r++)
            if (section->records[r].role == METATF_DATA)
                good = metatfc_model_add_record(model, s, r, r >= section->record_count - globals);
    }
    if (!good)
        fprintf(stderr, "%s: out of memory\n", model->source);
    return good && metatfc_model_check_names(model);
}

void mc_model_reset(struct mc_model *model)
{
    for (size_t i = 0; i < model->record_count; i++) {
        struct mc_record *record = &model->records[i];
        for (uint32_t f = 0; record->fields != NULL && f < record->record->field_count; f++)
            free(record->fields[f].member);
        free(record->fields);
        free(record->name);
        free(record->member);
    }
    free(model->records);
}

void mc_print_kind(const struct mc_record *record, FILE *out)
{
    char upper[C_NAME_SIZE];
    c_names_upper(record->name, upper, sizeof upper);
    fputs(upper, out);
}
