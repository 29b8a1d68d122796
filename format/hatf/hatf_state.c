/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a HATF stream, the effect of metadata on it, and the layout of each record. */
#include "format/hatf/hatf_state.h"

const uint8_t hatf_layouts[HATF_TAG_COUNT][8] = {
#define REALLOC_LAYOUT                                                                             \
    {                                                                                              \
        HATF_SIZE, HATF_ADDRESS, HATF_PART_NEW_ADDRESS, HATF_THREAD, HATF_HEAP, HATF_TIME,         \
            HATF_ATTRIBUTES, HATF_PART_END                                                         \
    }
    [HATF_ALLOC] = {HATF_SIZE, HATF_ADDRESS, HATF_THREAD, HATF_HEAP, HATF_TIME, HATF_ATTRIBUTES,
                    HATF_PART_END},
    [HATF_FREE] = {HATF_ADDRESS, HATF_THREAD, HATF_HEAP, HATF_TIME, HATF_ATTRIBUTES, HATF_PART_END},
    [HATF_REALLOC_NO_ALLOC] = REALLOC_LAYOUT,
    [HATF_REALLOC_ALLOC_FREE] = REALLOC_LAYOUT,
    [HATF_REALLOC_ALLOC] = REALLOC_LAYOUT,
    [HATF_REALLOC_FREE] = REALLOC_LAYOUT,
    [HATF_CREATE_HEAP] = {HATF_HEAP, HATF_THREAD, HATF_TIME, HATF_ATTRIBUTES, HATF_PART_END},
    [HATF_DESTROY_HEAP] = {HATF_HEAP, HATF_THREAD, HATF_TIME, HATF_ATTRIBUTES, HATF_PART_END},
    [HATF_CREATE_THREAD] = {HATF_THREAD, HATF_TIME, HATF_ATTRIBUTES, HATF_PART_END},
    [HATF_DESTROY_THREAD] = {HATF_THREAD, HATF_TIME, HATF_ATTRIBUTES, HATF_PART_END},
    [HATF_COMMENT] = {HATF_PART_END},
    [HATF_METADATA] = {HATF_PART_END},
#undef REALLOC_LAYOUT
};

const char *hatf_tag_name(enum hatf_tag tag)
{
    static const char *const names[HATF_TAG_COUNT] = {
        "alloc",         "free",          "realloc/no alloc", "realloc/alloc free",
        "realloc/alloc", "realloc/free",  "createHeap",       "destroyHeap",
        "createThread",  "destroyThread", "comment",          "metadata"};
    return (unsigned) tag < HATF_TAG_COUNT ? names[tag] : "?";
}

const char *hatf_field_name(enum hatf_field field)
{
    static const char *const names[HATF_FIELD_COUNT] = {"size",   "address", "time",
                                                        "thread", "heap",    "attributes"};
    return (unsigned) field < HATF_FIELD_COUNT ? names[field] : "?";
}

const char *hatf_interpretation_name(enum hatf_interpretation interpretation)
{
    static const char *const names[HATF_INTERPRETATION_COUNT] = {"none", "default", "baseOffset",
                                                                 "delta", "stride"};
    return (unsigned) interpretation < HATF_INTERPRETATION_COUNT ? names[interpretation] : "?";
}

const char *hatf_stream_name(enum hatf_split split, unsigned stream)
{
    if (split == HATF_SPLIT_ADDRESS)
        return stream == HATF_STREAM_MAIN               ? "hatf"
               : stream == HATF_STREAM_OF(HATF_ADDRESS) ? "address"
                                                        : NULL;
    if (split != HATF_SPLIT_FIELDS || stream >= HATF_STREAM_COUNT)
        return NULL;
    return stream == HATF_STREAM_MAIN ? "tag" : hatf_field_name((enum hatf_field)(stream - 1));
}

bool hatf_tag_has(enum hatf_tag tag, enum hatf_field field)
{
    if ((unsigned) tag >= HATF_TAG_COUNT || (unsigned) field >= HATF_FIELD_COUNT)
        return false;
    for (const uint8_t *part = hatf_layouts[tag]; *part != HATF_PART_END; part++) {
        if (*part == field)
            return true;
    }
    return false;
}

void hatf_state_init(struct hatf_state *state)
{
    const struct hatf_field_state four_bytes = {
        .interpretation = HATF_NONE, .width = HATF_WIDTH_4, .last_width = HATF_WIDTH_4};
    const struct hatf_field_state constant = {.interpretation = HATF_DEFAULT};
    for (unsigned i = 0; i < HATF_FIELD_COUNT; i++)
        state->fields[i] = i == HATF_SIZE || i == HATF_ADDRESS ? four_bytes : constant;
}

static const char *width_fault(uint8_t field, uint8_t width)
{
    switch (width) {
    case HATF_WIDTH_0:
    case HATF_WIDTH_1:
    case HATF_WIDTH_2:
    case HATF_WIDTH_4:
    case HATF_WIDTH_8:
        return NULL;
    case HATF_WIDTH_V1:
    case HATF_WIDTH_V2:
        return field == HATF_ATTRIBUTES ? NULL : "width v1 or v2 for a field with a number";
    default:
        return "unknown width";
    }
}

const char *hatf_metadata_fault(uint8_t operation, uint8_t field, uint8_t argument)
{
    if (operation != HATF_SET_WIDTH && operation != HATF_SET_INTERPRETATION)
        return "unknown metadata operation";
    if (field >= HATF_FIELD_COUNT)
        return "unknown field";
    if (operation == HATF_SET_WIDTH)
        return width_fault(field, argument);
    return argument < HATF_INTERPRETATION_COUNT ? NULL : "unknown interpretation";
}

unsigned hatf_metadata_values(uint8_t operation, uint8_t argument)
{
    if (operation == HATF_SET_WIDTH || argument == HATF_NONE)
        return 0;
    return argument == HATF_STRIDE ? 2 : 1;
}

static void set_width(struct hatf_field_state *field, uint8_t width)
{
    if (width != 0)
        field->last_width = width;
    if (!step_field_stores_nothing(field->interpretation))
        field->width = width;
}

static void set_interpretation(struct hatf_field_state *field, const struct hatf_metadata *metadata)
{
    field->interpretation = metadata->argument;
    field->width = step_field_stores_nothing(metadata->argument) ? 0 : field->last_width;
    switch (metadata->argument) {
    case HATF_DEFAULT:
    case HATF_BASE_OFFSET:
        field->value = metadata->value;
        break;
    case HATF_DELTA:
        field->previous = metadata->value;
        break;
    case HATF_STRIDE:
        field->previous = metadata->value;
        field->stride = metadata->stride;
        break;
    default:
        break;
    }
}

void hatf_state_apply(struct hatf_state *state, const struct hatf_metadata *metadata)
{
    struct hatf_field_state *field = &state->fields[metadata->field];
    if (metadata->operation == HATF_SET_WIDTH)
        set_width(field, metadata->argument);
    else
        set_interpretation(field, metadata);
}
