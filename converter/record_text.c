/* SPDX-License-Identifier: Apache-2.0 */
/* How the fields' types and attributes rule what is shown. */
#include "record_text.h"

#include <stdlib.h>
#include <string.h>

enum form {
    FORM_SIGNED,
    FORM_UNSIGNED,
    FORM_ADDRESS,
    FORM_TEXT,
    FORM_DATA,
    FORM_NUMBER,
    FORM_RECORD,
    FORM_VARIANT
};

struct shown_field {
    const struct step_field *field;
    size_t name_length;
    enum form form;       /* of the innermost elements */
    size_t element_slots; /* of these */
};

struct record_text {
    const struct step_reader *reader;
    const struct step_definition *definition;
    struct shown_field **records; /* by record, by field */
};

static bool is_address(const struct step_field *field)
{
    bool found = step_attributes_rule(&field->attributes, "property", "address", NULL, NULL);
    for (size_t i = 0; i < field->sub_attribute_count && field->array_depth > 0; i++)
        found = found || step_attributes_rule(&field->sub_attributes[i].attributes, "property",
                                              "address", NULL, NULL);
    return found;
}

static enum form form_of(const struct step_field *field)
{
    if (step_field_is_identifier(field))
        return FORM_NUMBER;
    if (step_field_is_variant(field))
        return FORM_VARIANT;
    switch (field->kind) {
    case STEP_TYPE_STRING:
        return FORM_TEXT;
    case STEP_TYPE_DATA:
        return FORM_DATA;
    case STEP_TYPE_RECORD:
        return FORM_RECORD;
    case STEP_TYPE_INT:
        break;
    }
    if (is_address(field))
        return FORM_ADDRESS;
    return step_field_is_unsigned(field) ? FORM_UNSIGNED : FORM_SIGNED;
}

static bool prepare(struct record_text *text, uint32_t record)
{
    const struct step_record *type = &text->definition->records[record];
    struct shown_field *fields = calloc(type->field_count + 1, sizeof *fields);
    text->records[record] = fields;
    for (size_t i = 0; fields != NULL && i < type->field_count; i++) {
        const struct step_field *field = &type->fields[i];
        fields[i] = (struct shown_field){field, strlen(field->name), form_of(field), 1};
        if (fields[i].form == FORM_RECORD)
            fields[i].element_slots = step_record_slot_count(text->definition, field->record);
    }
    return fields != NULL;
}

struct record_text *record_text_create(const struct step_reader *reader)
{
    struct record_text *text = calloc(1, sizeof *text);
    if (text == NULL)
        return NULL;
    text->reader = reader;
    text->definition = step_reader_borrow_definition(reader);
    text->records = calloc(text->definition->record_count + 1, sizeof *text->records);
    bool good = text->records != NULL;
    for (uint32_t i = 0; good && i < text->definition->record_count; i++)
        good = prepare(text, i);
    if (!good) {
        record_text_destroy(text);
        return NULL;
    }
    return text;
}

void record_text_destroy(struct record_text *text)
{
    if (text == NULL)
        return;
    for (size_t i = 0; text->records != NULL && i < text->definition->record_count; i++)
        free(text->records[i]);
    free(text->records);
    free(text);
}

/* Length of a UTF-8 character that is shown as it is, or 0. */
static size_t shown_length(const uint8_t *at, size_t left)
{
    size_t length = at[0] < 0x80 ? 1 : at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    if (length == 0 || length > left || at[0] > 0xf4 || at[0] < 0x20 || at[0] == 0x7f)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    return length == 2 && at[0] == 0xc2 && at[1] < 0xa0 ? 0 : length; /* no C1 controls */
}

/* printf is too slow for a trace's numbers. */
static void put_number(uint64_t value, unsigned base, FILE *out)
{
    char digits[24];
    size_t at = sizeof digits;
    do
        digits[--at] = "0123456789abcdef"[value % base];
    while ((value /= base) != 0);
    fwrite_unlocked(digits + at, 1, sizeof digits - at, out);
}

static void put_signed(uint64_t value, FILE *out)
{
    bool negative = value >> 63 != 0;
    if (negative)
        putc_unlocked('-', out);
    put_number(negative ? 0 - value : value, 10, out);
}

static void put_byte(uint8_t byte, FILE *out)
{
    putc_unlocked("0123456789abcdef"[byte >> 4], out);
    putc_unlocked("0123456789abcdef"[byte & 15], out);
}

static void put_text(const struct step_bytes *bytes, FILE *out)
{
    size_t plain = 0; /* what is shown as it is and waits, from here to i */
    putc_unlocked('"', out);
    for (size_t i = 0; i < bytes->length;) {
        size_t length = shown_length(bytes->data + i, bytes->length - i);
        bool quoted = bytes->data[i] == '"' || bytes->data[i] == '\\';
        if (length > 0 && !quoted) {
            i += length;
            continue;
        }
        fwrite_unlocked(bytes->data + plain, 1, i - plain, out);
        plain = i + (length == 0);
        putc_unlocked('\\', out);
        if (length == 0) {
            putc_unlocked('x', out);
            put_byte(bytes->data[i], out);
        }
        i++;
    }
    fwrite_unlocked(bytes->data + plain, 1, bytes->length - plain, out);
    putc_unlocked('"', out);
}

static void put_data(const struct step_bytes *bytes, FILE *out)
{
    fputs("x'", out);
    for (size_t i = 0; i < bytes->length; i++)
        put_byte(bytes->data[i], out);
    putc_unlocked('\'', out);
}

/* Fields with blanks between; returns the slots behind the last. */
static const uint64_t *put_fields(const struct record_text *text, uint32_t record,
                                  const uint64_t *slots, bool entries, FILE *out);

static void put_identifier(const struct record_text *text, uint32_t record, uint64_t id,
                           bool entries, FILE *out)
{
    putc_unlocked('#', out);
    put_number(id, 10, out);
    if (id == 0 || !entries)
        return;
    const uint64_t *entry = step_reader_dictionary_entry(text->reader, record, id);
    if (entry == NULL) {
        putc_unlocked('?', out);
        return;
    }
    putc_unlocked('{', out);
    put_fields(text, record, entry, false, out);
    putc_unlocked('}', out);
}

/* The type stands before the fields. */
static void put_variant(const struct record_text *text, const struct step_variant *variant,
                        bool entries, FILE *out)
{
    if (variant->record >= text->definition->record_count) {
        fputs("{}", out); /* the trace has none */
        return;
    }
    fprintf(out, "%s{", text->definition->records[variant->record].name);
    put_fields(text, variant->record, variant->slots, entries, out);
    putc_unlocked('}', out);
}

static void put_value(const struct record_text *text, const struct shown_field *shown,
                      uint32_t depth, const uint64_t *slots, bool entries, FILE *out)
{
    if (depth < shown->field->array_depth) {
        const struct step_array *array = step_slot_array(*slots);
        bool innermost = depth + 1 == shown->field->array_depth;
        putc_unlocked('[', out);
        for (size_t i = 0; i < array->count; i++) {
            if (i > 0)
                putc_unlocked(' ', out);
            put_value(text, shown, depth + 1,
                      array->slots + i * (innermost ? shown->element_slots : 1), entries, out);
        }
        putc_unlocked(']', out);
        return;
    }
    switch (shown->form) {
    case FORM_SIGNED:
        put_signed(*slots, out);
        break;
    case FORM_UNSIGNED:
        put_number(*slots, 10, out);
        break;
    case FORM_ADDRESS:
        fputs("0x", out);
        put_number(*slots, 16, out);
        break;
    case FORM_TEXT:
        put_text(step_slot_bytes(*slots), out);
        break;
    case FORM_DATA:
        put_data(step_slot_bytes(*slots), out);
        break;
    case FORM_NUMBER:
        if (shown->field->kind == STEP_TYPE_RECORD)
            put_identifier(text, shown->field->record, *slots, entries, out);
        else
            put_identifier(text, 0, *slots, false, out);
        break;
    case FORM_VARIANT:
        put_variant(text, step_slot_variant(*slots), entries, out);
        break;
    case FORM_RECORD:
        putc_unlocked('{', out);
        put_fields(text, shown->field->record, slots, entries, out);
        putc_unlocked('}', out);
        break;
    }
}

static const uint64_t *put_fields(const struct record_text *text, uint32_t record,
                                  const uint64_t *slots, bool entries, FILE *out)
{
    const struct step_record *type = &text->definition->records[record];
    for (size_t i = 0; i < type->field_count; i++) {
        const struct shown_field *shown = &text->records[record][i];
        if (i > 0)
            putc_unlocked(' ', out);
        fwrite_unlocked(shown->field->name, 1, shown->name_length, out);
        putc_unlocked('=', out);
        put_value(text, shown, 0, slots, entries, out);
        slots += shown->field->array_depth > 0 ? 1 : shown->element_slots;
    }
    return slots;
}

void record_text_put(const struct record_text *text, uint32_t record, const uint64_t *slots,
                     FILE *out)
{
    const struct step_record *type = &text->definition->records[record];
    fputs(type->name, out);
    if (type->field_count > 0)
        putc_unlocked(' ', out);
    put_fields(text, record, slots, true, out);
    putc_unlocked('\n', out);
}

void record_text_put_entry(const struct record_text *text, uint32_t record, uint64_t id,
                           const uint64_t *slots, FILE *out)
{
    const struct step_record *type = &text->definition->records[record];
    fputs(type->name, out);
    putc_unlocked('#', out);
    put_number(id, 10, out);
    if (type->field_count > 0)
        putc_unlocked(' ', out);
    put_fields(text, record, slots, false, out);
    putc_unlocked('\n', out);
}
