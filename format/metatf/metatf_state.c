/* SPDX-License-Identifier: Apache-2.0 */
/* How fields of Meta-TF records are stored: initially by the DTD, then as changed by metadata. */
#include "format/metatf/metatf_state.h"

void metatf_states_init(const struct metatf_section *section, struct metatf_state *states,
                        uint64_t *cells)
{
    for (uint32_t r = 0; r < section->record_count; r++) {
        const struct metatf_record *record = &section->records[r];
        for (uint32_t f = 0; f < record->field_count; f++) {
            const struct metatf_field *field = &record->fields[f];
            bool nothing = step_field_stores_nothing(field->interpretation);
            states[record->first_state + f] = (struct metatf_state){
                .interpretation = field->interpretation,
                .width_by_field = field->width_field != METATF_NO_FIELD && !nothing,
                .argument_by_field = field->argument_field != METATF_NO_FIELD,
                .width = nothing ? 0 : field->width,
                .last_width = field->width,
                .argument = field->argument,
                .stride = field->stride};
            if (field->interpretation == STEP_FIELD_DELTA ||
                field->interpretation == STEP_FIELD_STRIDE)
                cells[field->cell] = field->argument;
        }
    }
}

uint32_t metatf_dtd_section(const struct metatf_dtd *dtd, uint32_t number)
{
    for (uint32_t i = 0; i < dtd->section_count; i++)
        if (dtd->sections[i].number == number)
            return i;
    return UINT32_MAX;
}

uint32_t metatf_record_by_tag(const struct metatf_section *section, uint64_t tag)
{
    for (uint32_t i = 0; i < section->record_count; i++)
        if (section->records[i].tag == tag)
            return i;
    return UINT32_MAX;
}

/* The paper's names and numbers. */
static const struct {
    const char *name;
    uint8_t property;
} interpretations[STEP_FIELD_INTERPRETATION_COUNT] = {
    [STEP_FIELD_NONE] = {"none", 1},
    [STEP_FIELD_DEFAULT] = {"default", 4},
    [STEP_FIELD_BASE_OFFSET] = {"baseOffset", 2},
    [STEP_FIELD_DELTA] = {"delta", 3},
    [STEP_FIELD_STRIDE] = {"stride", 6},
    [STEP_FIELD_SECTION_OFFSET] = {"sectionOffset", 5},
    [STEP_FIELD_SECTION_STRIDE] = {"sectionStride", 7},
};

const char *metatf_interpretation_name(unsigned interpretation)
{
    return interpretation < STEP_FIELD_INTERPRETATION_COUNT ? interpretations[interpretation].name
                                                            : "?";
}

uint8_t metatf_property_of(unsigned interpretation)
{
    return interpretation < STEP_FIELD_INTERPRETATION_COUNT
               ? interpretations[interpretation].property
               : 0;
}

uint8_t metatf_property_interpretation(unsigned property)
{
    for (unsigned i = 0; i < STEP_FIELD_INTERPRETATION_COUNT; i++)
        if (interpretations[i].property == property)
            return (uint8_t) i;
    return UINT8_MAX;
}

unsigned metatf_metadata_values(unsigned property)
{
    uint8_t interpretation = metatf_property_interpretation(property);
    if (property == METATF_PROPERTY_WIDTH)
        return 1;
    if (interpretation == STEP_FIELD_NONE || interpretation == UINT8_MAX)
        return 0;
    return interpretation == STEP_FIELD_STRIDE || interpretation == STEP_FIELD_SECTION_STRIDE ? 2
                                                                                              : 1;
}

static const char *set_width(const struct metatf_field *field, struct metatf_state *state,
                             uint64_t width)
{
    if (width > (field->kind == METATF_NUMBER ? STEP_FIELD_WIDTH_MAX : METATF_RECORD_BYTES_MAX))
        return "metadata: a width is too large";
    state->last_width = (uint32_t) width;
    if (!step_field_stores_nothing(state->interpretation)) {
        state->width = (uint32_t) width;
        state->width_by_field = false;
    }
    return NULL;
}

static const char *section_fault(const struct metatf_dtd *dtd, const struct metatf_section *own,
                                 uint8_t interpretation, const struct metatf_metadata *metadata)
{
    uint32_t index =
        metadata->value <= 255 ? metatf_dtd_section(dtd, (uint32_t) metadata->value) : UINT32_MAX;
    if (index == UINT32_MAX)
        return "metadata: the DTD has no such section";
    if (interpretation == STEP_FIELD_SECTION_OFFSET)
        return NULL;
    if (index == 0 || &dtd->sections[index] == own)
        return "metadata: sectionStride through the global section, or its own";
    uint32_t tag = dtd->sections[index].is_data ? 0 : dtd->tag_width;
    return metadata->stride >= tag + 1 && metadata->stride <= tag + STEP_FIELD_WIDTH_MAX
               ? NULL
               : "metadata: the stride through a section is not that of a number in it";
}

static const char *set_interpretation(const struct metatf_dtd *dtd,
                                      const struct metatf_section *section,
                                      const struct metatf_field *field, struct metatf_state *state,
                                      uint64_t *cells, uint8_t interpretation,
                                      const struct metatf_metadata *metadata)
{
    if (field->kind == METATF_BYTES && interpretation != STEP_FIELD_NONE &&
        interpretation != STEP_FIELD_DEFAULT)
        return "metadata: bytes can be none or default only";
    if (interpretation == STEP_FIELD_SECTION_OFFSET ||
        interpretation == STEP_FIELD_SECTION_STRIDE) {
        const char *fault = section_fault(dtd, section, interpretation, metadata);
        if (fault != NULL)
            return fault;
    }
    bool nothing = step_field_stores_nothing(interpretation);
    state->interpretation = interpretation;
    state->width = nothing ? 0 : state->last_width;
    state->width_by_field = !nothing && field->width_field != METATF_NO_FIELD;
    state->argument_by_field = false;
    state->argument = metadata->value;
    state->stride = metadata->stride;
    if (interpretation == STEP_FIELD_DELTA || interpretation == STEP_FIELD_STRIDE)
        cells[field->cell] = metadata->value;
    return NULL;
}

const char *metatf_state_apply(const struct metatf_dtd *dtd, const struct metatf_section *section,
                               struct metatf_state *states, uint64_t *cells,
                               const struct metatf_metadata *metadata)
{
    uint32_t index = metatf_record_by_tag(section, metadata->tag);
    if (index == UINT32_MAX || section->records[index].role == METATF_METADATA ||
        section->records[index].role == METATF_SECTION)
        return "metadata: no record that can be changed has that tag";
    const struct metatf_record *record = &section->records[index];
    if (metadata->field == 0 || metadata->field >= record->field_count)
        return "metadata: the record has no such field";
    const struct metatf_field *field = &record->fields[metadata->field];
    struct metatf_state *state = &states[record->first_state + metadata->field];
    if (metadata->property == METATF_PROPERTY_WIDTH)
        return set_width(field, state, metadata->value);
    uint8_t interpretation = metatf_property_interpretation(metadata->property);
    if (interpretation == UINT8_MAX)
        return "metadata: unknown property";
    return set_interpretation(dtd, section, field, state, cells, interpretation, metadata);
}

uint32_t metatf_record_need(const struct metatf_dtd *dtd)
{
    uint32_t fields = 0;
    for (uint32_t s = 0; s < dtd->section_count; s++)
        for (uint32_t r = 0; r < dtd->sections[s].record_count; r++)
            if (dtd->sections[s].records[r].field_count > fields)
                fields = dtd->sections[s].records[r].field_count;
    /* a metadata record: tag, tag, two bytes, two values; plus one word */
    uint32_t metadata = 2 * 8 + 2 + 2 * 8;
    uint32_t numbers = 8 + fields * STEP_FIELD_WIDTH_MAX;
    return (numbers > metadata ? numbers : metadata) + STEP_FIELD_WIDTH_MAX;
}

static bool fields_equal(const struct metatf_field *one, const struct metatf_field *other)
{
    return strcmp(one->path, other->path) == 0 && one->kind == other->kind &&
           one->interpretation == other->interpretation && one->width == other->width &&
           one->width_field == other->width_field && one->argument == other->argument &&
           one->argument_field == other->argument_field && one->stride == other->stride &&
           one->has_value == other->has_value && one->value == other->value &&
           one->value_field == other->value_field && one->repeat == other->repeat &&
           one->cell == other->cell;
}

static bool records_equal(const struct metatf_record *one, const struct metatf_record *other)
{
    if (strcmp(one->name, other->name) != 0 || one->tag != other->tag || one->role != other->role ||
        one->field_count != other->field_count)
        return false;
    for (uint32_t i = 0; i < one->field_count; i++)
        if (!fields_equal(&one->fields[i], &other->fields[i]))
            return false;
    return true;
}

bool metatf_dtd_equal(const struct metatf_dtd *one, const struct metatf_dtd *other)
{
    if (one == other)
        return true;
    if (one->tag_width != other->tag_width || one->section_count != other->section_count)
        return false;
    for (uint32_t s = 0; s < one->section_count; s++) {
        const struct metatf_section *left = &one->sections[s];
        const struct metatf_section *right = &other->sections[s];
        if (left->number != right->number || left->record_count != right->record_count)
            return false;
        for (uint32_t r = 0; r < left->record_count; r++)
            if (!records_equal(&left->records[r], &right->records[r]))
                return false;
    }
    return true;
}
