/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts the parse tree of a DTD to its tables.  A record's fields are flattened to a list; each
 * gets its properties from the innermost scope that sets them: the record that declares it, the
 * records around that, the section, the DTD (all names are statically scoped).
 */
#include <inttypes.h>
#include <string.h>

#include "format/metatf/dtd_resolve.h"
#include "format/metatf/metatf_state.h"

/* ---- records ---- */

static bool has_explicit_tag(const struct dtd_record *record)
{
    const struct dtd_field *field = record->field;
    if (field->form == DTD_GROUP)
        field = field->children;
    return field->form == DTD_NAME && strcmp(field->name, "tag") == 0;
}

static void start_record(struct record_work *record, struct metatf_record *out)
{
    struct metatf_field *tag = dtd_add_field(record, "tag", "", record->place);
    if (tag == NULL)
        return;
    tag->width = record->section->tag_width;
    tag->has_value = true;
    tag->value = out->tag;
    tag->cell = dtd_add_cell(record->section, record->section->parse, "tag");
    record->count = 1;
    record->depth = 1;
}

static bool finish_record(struct record_work *record, struct metatf_record *out)
{
    struct metatf_field *fields =
        dtd_zeroed(record->section->parse, record->count * sizeof *record->fields);
    if (fields == NULL)
        return false;
    memcpy(fields, record->fields, record->count * sizeof *fields);
    out->fields = fields;
    out->field_count = record->count;
    out->first_state = record->section->out->state_count;
    record->section->out->state_count += record->count;
    return true;
}

static bool make_record(struct record_work *record, struct dtd_record *tree,
                        const struct dtd_section *home, struct metatf_record *out)
{
    struct dtd_parse *parse = record->section->parse;
    const struct scope global = {parse->defs.properties, NULL, &parse->defs, NULL};
    const struct scope local = {home != NULL ? home->defs.properties : NULL, &global, home, home};
    const struct scope scope = {tree->properties, home != NULL ? &local : &global, tree, home};
    record->name = tree->name;
    record->place = tree->place;
    record->count = record->group = record->group_count = 0;
    const struct dtd_property *value = dtd_find_in(tree->properties, "tag", "value");
    const struct dtd_argument *tag = &value->arguments[0];
    if (value->word != NULL || tag->is_reference ||
        !step_fits_unsigned(tag->number, record->section->tag_width)) {
        dtd_fault(parse, value->place, "the tag of record %s is no number of %u byte%s", tree->name,
                  record->section->tag_width, record->section->tag_width == 1 ? "" : "s");
        return false;
    }
    *out = (struct metatf_record){.name = tree->name, .tag = tag->number};
    start_record(record, out);
    bool good = record->count == 1;
    if (good && has_explicit_tag(tree)) /* the fields after it in the list */
        good = tree->field->form == DTD_NAME ||
               dtd_add_list(record, tree->field->children->next, "", &scope);
    else
        good = good && dtd_add(record, tree->field, "", &scope);
    return good && finish_record(record, out);
}

static bool make_predefined(struct record_work *record, struct metatf_record *out)
{
    record->name = out->name;
    record->count = record->group = record->group_count = 0;
    start_record(record, out);
    bool good = record->count == 1;
    if (good && out->role == METATF_COMMENT)
        good = dtd_add_vfield(record, "");
    if (good && out->role == METATF_SECTION) {
        struct metatf_field *number = dtd_add_field(record, "number", "", record->place);
        if ((good = number != NULL)) {
            number->width = 1;
            number->cell = dtd_add_cell(record->section, record->section->parse, "number");
            record->count++;
        }
    }
    return good && finish_record(record, out);
}

/* ---- sections ---- */

static bool make_list(struct record_work *work, struct metatf_record *records,
                      struct dtd_record *tree, const struct dtd_section *home)
{
    struct metatf_section *out = work->section->out;
    const uint32_t own_count = out->record_count;
    for (; tree != NULL; tree = tree->next) {
        if (!dtd_is_event(tree)) {
            if (has_explicit_tag(tree))
                dtd_fault(work->section->parse, tree->place, "record %s has no tag.value",
                          tree->name);
            continue;
        }
        struct metatf_record *record = &records[out->record_count];
        if (!make_record(work, tree, home, record))
            return false;
        if (home == NULL && metatf_record_by_tag(out, record->tag) < own_count)
            continue; /* within this section the tag belongs to one of its own records */
        if (metatf_record_by_tag(out, record->tag) != UINT32_MAX) {
            dtd_fault(work->section->parse, tree->place,
                      "another record of the section has tag %" PRIu64, record->tag);
            return false;
        }
        out->record_count++;
    }
    return true;
}

/* If a record of the DTD uses the tag of a predefined one, the predefined one gets the first free
 * tag above all others. */
static bool make_all_predefined(struct record_work *work, struct metatf_record *records)
{
    static const struct {
        const char *name;
        enum metatf_role role;
    } rows[] = {
        {"comment", METATF_COMMENT}, {"section", METATF_SECTION}, {"metadata", METATF_METADATA}};
    struct metatf_section *out = work->section->out;
    uint32_t own = out->record_count;
    uint64_t above = 3;
    for (uint32_t i = 0; i < own; i++)
        if (records[i].tag > above)
            above = records[i].tag;
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t tag = i + 1;
        if (metatf_record_by_tag(out, tag) < own)
            tag = ++above;
        if (!step_fits_unsigned(tag, work->section->tag_width) || tag == 0) {
            dtd_fault(work->section->parse, work->place, "no tag is left for the record %s",
                      rows[i].name);
            return false;
        }
        struct metatf_record *record = &records[out->record_count++];
        *record = (struct metatf_record){.name = rows[i].name, .role = rows[i].role, .tag = tag};
        if (!make_predefined(work, record))
            return false;
    }
    return true;
}

static uint32_t dtd_resolve_count_records(const struct dtd_record *record)
{
    uint32_t count = 0;
    for (; record != NULL; record = record->next)
        count++;
    return count;
}

static bool make_section(struct record_work *work, struct section_work *section)
{
    struct dtd_parse *parse = section->parse;
    const struct dtd_section *tree = section->tree;
    struct metatf_section *out = section->out;
    uint32_t count = dtd_resolve_count_records(parse->defs.records) + 3;
    if (tree != NULL)
        count += dtd_resolve_count_records(tree->defs.records);
    struct metatf_record *records = dtd_zeroed(parse, count * sizeof *records);
    if (records == NULL)
        return false;
    out->name = tree != NULL ? tree->name : "";
    out->number = tree != NULL ? (uint32_t) tree->number : 0;
    out->records = records;
    out->is_data = tree != NULL && tree->defs.records == NULL;
    work->section = section;
    work->place = tree != NULL ? tree->place : (struct dtd_place){1, 1};
    return (tree == NULL || make_list(work, records, tree->defs.records, tree)) &&
           make_list(work, records, parse->defs.records, NULL) &&
           make_all_predefined(work, records);
}

/* ---- the whole ---- */

static uint32_t find_tag_width(struct dtd_parse *parse)
{
    const struct dtd_property *width = dtd_find_in(parse->defs.properties, "tag", "width");
    if (width == NULL)
        return 1;
    uint64_t number = width->arguments[0].number;
    if (width->word != NULL || width->arguments[0].is_reference || number < 1 ||
        number > STEP_FIELD_WIDTH_MAX) {
        dtd_fault(parse, width->place, "the width of tags is 1 to %u bytes", STEP_FIELD_WIDTH_MAX);
        return 1;
    }
    return (uint32_t) number;
}

bool dtd_resolve(struct dtd_parse *parse, struct metatf_dtd *out)
{
    if (!dtd_check(parse))
        return false;
    uint32_t tag_width = find_tag_width(parse);
    uint32_t count = parse->section_count + 1;
    struct metatf_section *sections = dtd_zeroed(parse, count * sizeof *sections);
    struct record_work *work = dtd_zeroed(parse, sizeof *work);
    if (parse->out_of_memory)
        return false;
    work->fields = dtd_zeroed(parse, METATF_FIELD_LIMIT * sizeof *work->fields);
    work->groups = dtd_zeroed(parse, METATF_FIELD_LIMIT * sizeof *work->groups);
    if (parse->out_of_memory)
        return false;
    const struct dtd_section *tree = NULL;
    for (uint32_t i = 0; i < count; i++, tree = tree != NULL ? tree->next : parse->sections) {
        struct section_work section = {
            .parse = parse, .tree = tree, .out = &sections[i], .tag_width = tag_width};
        make_section(work, &section);
        if (i + 1 == count)
            break;
    }
    if (parse->fault_count == 0)
        dtd_check_use(parse);
    out->tag_width = tag_width;
    out->sections = sections;
    out->section_count = count;
    return parse->fault_count == 0 && !parse->out_of_memory;
}
