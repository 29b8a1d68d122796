/* SPDX-License-Identifier: Apache-2.0 */
/* Selects and prints records. */
#include "converter/records/record_dump.h"

#include <stdlib.h>
#include <string.h>

#include "converter/cli/error_report.h"
#include "converter/containers/no_memory.h"
#include "converter/files/trace_gap.h"
#include "converter/files/trace_reader.h"
#include "converter/records/record_values.h"
#include "steptrace/show.h"

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
    size_t element_slots; /* slots of one of these */
};

/* Cache of formatted dictionary entries: a trace has few, and refers to each often. */
enum { SHOWN_ENTRIES = 1024, SHOWN_BYTES = 236 };
struct shown_entry {
    uint64_t id; /* 0: empty */
    uint32_t record;
    uint32_t length;
    char bytes[SHOWN_BYTES];
};

struct record_text {
    struct shown_entry *entries; /* by id modulo SHOWN_ENTRIES */
    const struct step_reader *reader;
    const struct step_definition *definition;
    struct shown_field **records; /* by record and field */
};

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
    if (record_field_is_address(field))
        return FORM_ADDRESS;
    return step_field_is_unsigned(field) ? FORM_UNSIGNED : FORM_SIGNED;
}

static bool record_dump_prepare(struct record_text *text, uint32_t record)
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
    text->entries = calloc(SHOWN_ENTRIES, sizeof *text->entries);
    bool good = text->records != NULL && text->entries != NULL;
    for (uint32_t i = 0; good && i < text->definition->record_count; i++)
        good = record_dump_prepare(text, i);
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
    free(text->entries);
    free(text);
}

/* Output buffer; stdio is too slow for the parts of a record. */
struct line {
    FILE *file;
    size_t length;
    uint64_t flushes;
    char bytes[4096];
};

static void line_begin(struct line *line, FILE *file)
{
    line->file = file;
    line->length = 0;
    line->flushes = 0;
    line->bytes[0] = '\0';
}

static void line_flush(struct line *line)
{
    fwrite(line->bytes, 1, line->length, line->file);
    line->length = 0;
    line->flushes++;
}

static void line_bytes(struct line *line, const void *bytes, size_t length)
{
    if (length > sizeof line->bytes - line->length)
        line_flush(line);
    if (length > sizeof line->bytes) {
        fwrite(bytes, 1, length, line->file);
        return;
    }
    if (length > 0)
        memcpy(line->bytes + line->length, bytes, length);
    line->length += length;
}

static void line_char(struct line *line, char c)
{
    if (line->length == sizeof line->bytes)
        line_flush(line);
    line->bytes[line->length++] = c;
}

static void line_text(struct line *line, const char *text)
{
    line_bytes(line, text, strlen(text));
}

/* printf() is too slow for a trace's numbers. */
static inline void record_dump_put_number(uint64_t value, unsigned base, struct line *out)
{
    char digits[24];
    size_t at = sizeof digits;
    do
        digits[--at] = "0123456789abcdef"[value % base];
    while ((value /= base) != 0);
    line_bytes(out, digits + at, sizeof digits - at);
}

static void put_signed(uint64_t value, struct line *out)
{
    bool negative = value >> 63 != 0;
    if (negative)
        line_char(out, '-');
    record_dump_put_number(negative ? 0 - value : value, 10, out);
}

static void put_byte(uint8_t byte, struct line *out)
{
    line_char(out, "0123456789abcdef"[byte >> 4]);
    line_char(out, "0123456789abcdef"[byte & 15]);
}

/* Fast path for ASCII. */
static inline size_t shown_length(const uint8_t *at, size_t left)
{
    return at[0] >= 0x20 && at[0] < 0x7f ? 1 : step_show_length(at, left);
}

static void record_dump_put_text(const struct step_bytes *bytes, struct line *out)
{
    size_t plain = 0; /* start of the bytes up to i that are printed unescaped */
    line_char(out, '"');
    for (size_t i = 0; i < bytes->length;) {
        size_t length = shown_length(bytes->data + i, bytes->length - i);
        bool quoted = bytes->data[i] == '"' || bytes->data[i] == '\\';
        if (length > 0 && !quoted) {
            i += length;
            continue;
        }
        line_bytes(out, bytes->data + plain, i - plain);
        plain = i + (length == 0);
        line_char(out, '\\');
        if (length == 0) {
            line_char(out, 'x');
            put_byte(bytes->data[i], out);
        }
        i++;
    }
    line_bytes(out, bytes->data + plain, bytes->length - plain);
    line_char(out, '"');
}

static void record_dump_put_data(const struct step_bytes *bytes, struct line *out)
{
    line_text(out, "x'");
    for (size_t i = 0; i < bytes->length; i++)
        put_byte(bytes->data[i], out);
    line_char(out, '\'');
}

/* Prints fields separated by blanks.  Returns the slots after the last. */
static const uint64_t *record_dump_put_fields(const struct record_text *text, uint32_t record,
                                              const uint64_t *slots, bool entries,
                                              struct line *out);

static void record_dump_put_entry(const struct record_text *text, uint32_t record,
                                  const uint64_t *entry, uint64_t id, struct line *out)
{
    struct shown_entry *shown = &text->entries[id % SHOWN_ENTRIES];
    if (shown->id == id && shown->record == record) {
        line_bytes(out, shown->bytes, shown->length);
        return;
    }
    uint64_t flushes = out->flushes;
    size_t start = out->length;
    line_char(out, '{');
    record_dump_put_fields(text, record, entry, false, out);
    line_char(out, '}');
    if (out->flushes != flushes || out->length - start > SHOWN_BYTES)
        return;
    shown->id = id;
    shown->record = record;
    shown->length = (uint32_t) (out->length - start);
    memcpy(shown->bytes, out->bytes + start, shown->length);
}

static void put_identifier(const struct record_text *text, uint32_t record, uint64_t id,
                           bool entries, struct line *out)
{
    line_char(out, '#');
    record_dump_put_number(id, 10, out);
    if (id == 0 || !entries)
        return;
    const uint64_t *entry = step_reader_dictionary_entry(text->reader, record, id);
    if (entry == NULL)
        line_char(out, '?');
    else
        record_dump_put_entry(text, record, entry, id, out);
}

/* Prints the type before the fields. */
static void put_variant(const struct record_text *text, const struct step_variant *variant,
                        bool entries, struct line *out)
{
    if (variant->record >= text->definition->record_count) {
        line_text(out, "{}"); /* the variant has no value */
        return;
    }
    line_text(out, text->definition->records[variant->record].name);
    line_char(out, '{');
    record_dump_put_fields(text, variant->record, variant->slots, entries, out);
    line_char(out, '}');
}

static void record_dump_put_value(const struct record_text *text, const struct shown_field *shown,
                                  uint32_t depth, const uint64_t *slots, bool entries,
                                  struct line *out)
{
    if (depth < shown->field->array_depth) {
        const struct step_array *array = step_slot_array(*slots);
        bool innermost = depth + 1 == shown->field->array_depth;
        line_char(out, '[');
        for (size_t i = 0; i < array->count; i++) {
            if (i > 0)
                line_char(out, ' ');
            record_dump_put_value(text, shown, depth + 1,
                                  array->slots + i * (innermost ? shown->element_slots : 1),
                                  entries, out);
        }
        line_char(out, ']');
        return;
    }
    switch (shown->form) {
    case FORM_SIGNED:
        put_signed(*slots, out);
        break;
    case FORM_UNSIGNED:
        record_dump_put_number(*slots, 10, out);
        break;
    case FORM_ADDRESS:
        line_text(out, "0x");
        record_dump_put_number(*slots, 16, out);
        break;
    case FORM_TEXT:
        record_dump_put_text(step_slot_bytes(*slots), out);
        break;
    case FORM_DATA:
        record_dump_put_data(step_slot_bytes(*slots), out);
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
        line_char(out, '{');
        record_dump_put_fields(text, shown->field->record, slots, entries, out);
        line_char(out, '}');
        break;
    }
}

static const uint64_t *record_dump_put_fields(const struct record_text *text, uint32_t record,
                                              const uint64_t *slots, bool entries, struct line *out)
{
    const struct step_record *type = &text->definition->records[record];
    for (size_t i = 0; i < type->field_count; i++) {
        const struct shown_field *shown = &text->records[record][i];
        if (i > 0)
            line_char(out, ' ');
        line_bytes(out, shown->field->name, shown->name_length);
        line_char(out, '=');
        record_dump_put_value(text, shown, 0, slots, entries, out);
        slots += shown->field->array_depth > 0 ? 1 : shown->element_slots;
    }
    return slots;
}

void record_text_put(const struct record_text *text, uint32_t record, const uint64_t *slots,
                     FILE *out)
{
    const struct step_record *type = &text->definition->records[record];
    struct line line;
    line_begin(&line, out);
    line_text(&line, type->name);
    if (type->field_count > 0)
        line_char(&line, ' ');
    record_dump_put_fields(text, record, slots, true, &line);
    line_char(&line, '\n');
    line_flush(&line);
}

/* Prints a dictionary entry, with its id "#7" after the name of its type. */
static void record_text_put_entry(const struct record_text *text, uint32_t record, uint64_t id,
                                  const uint64_t *slots, FILE *out)
{
    const struct step_record *type = &text->definition->records[record];
    struct line line;
    line_begin(&line, out);
    line_text(&line, type->name);
    line_char(&line, '#');
    record_dump_put_number(id, 10, &line);
    if (type->field_count > 0)
        line_char(&line, ' ');
    record_dump_put_fields(text, record, slots, false, &line);
    line_char(&line, '\n');
    line_flush(&line);
}

struct dumping {
    const struct record_dump *dump;
    struct step_reader *reader;
    const struct step_definition *definition;
    struct record_filter *filter;
    struct record_text *text;
    struct seekable_path seekable;
};

static enum step_status prepare_dump(struct dumping *dumping, struct step_error *error)
{
    dumping->definition = step_reader_borrow_definition(dumping->reader);
    dumping->text = record_text_create(dumping->reader);
    if (dumping->text == NULL)
        return no_memory(error);
    return record_filter_create(dumping->reader, &dumping->dump->selected, &dumping->filter, error);
}

static enum step_status record_dump_put(struct dumping *dumping, struct step_error *error)
{
    struct record_order *order;
    struct step_record_view view;
    enum step_status status = record_order_create(
        dumping->reader, record_filter_selection(dumping->filter), &order, error);
    while (status == STEP_STATUS_OK &&
           (status = record_order_next(order, &view, error)) == STEP_STATUS_OK)
        if (record_filter_takes(dumping->filter, &view))
            record_text_put(dumping->text, view.record, view.slots, stdout);
    record_order_destroy(order);
    return status == STEP_STATUS_END ? STEP_STATUS_OK : status;
}

static void put_entries(const struct dumping *dumping)
{
    const uint8_t *wanted = step_selection_wanted(record_filter_selection(dumping->filter));
    for (uint32_t i = 0; i < dumping->definition->record_count; i++) {
        for (uint64_t id = 0;
             wanted[i] && (id = step_reader_dictionary_next(dumping->reader, i, id)) != 0;) {
            const uint64_t *entry = step_reader_dictionary_entry(dumping->reader, i, id);
            if (entry != NULL)
                record_text_put_entry(dumping->text, i, id, entry, stdout);
        }
    }
}

enum step_status stepfile_open(const char *path, const char *needs_all, struct step_reader **reader,
                               struct seekable_path *seekable, struct step_error *error)
{
    enum step_status status = seekable_path_open(seekable, path, error);
    if (status == STEP_STATUS_OK)
        status = open_with_given_definition(seekable->path, needs_all, reader, error);
    if (status == STEP_STATUS_OK || status == STEP_STATUS_NO_MEMORY || status == STEP_STATUS_IO ||
        status == STEP_STATUS_NOT_FOUND)
        return status;
    return error->status = STEP_STATUS_CORRUPT;
}

enum step_status stepfile_close(struct step_reader *reader, struct seekable_path *seekable,
                                const char *path, enum step_status status,
                                const struct step_error *error)
{
    if (status == STEP_STATUS_OK)
        status = report_reader_damage(reader, path);
    else
        report_error(error);
    step_reader_destroy(reader);
    seekable_path_close(seekable);
    return status;
}

enum step_status record_dump(const char *path, const struct record_dump *dump)
{
    struct dumping dumping = {.dump = dump};
    struct step_error error = {.offset = STEP_NO_OFFSET};
    enum step_status status = stepfile_open(path, NULL, &dumping.reader, &dumping.seekable, &error);
    if (status == STEP_STATUS_OK)
        status = prepare_dump(&dumping, &error);
    if (status == STEP_STATUS_OK && dump->entries)
        put_entries(&dumping);
    else if (status == STEP_STATUS_OK)
        status = record_dump_put(&dumping, &error);
    record_filter_destroy(dumping.filter);
    record_text_destroy(dumping.text);
    return stepfile_close(dumping.reader, &dumping.seekable, path, status, &error);
}

enum step_status record_dump_definition(const char *path)
{
    struct step_reader *reader = NULL;
    struct seekable_path seekable = {0};
    struct step_error error = {.offset = STEP_NO_OFFSET};
    enum step_status status = stepfile_open(path, NULL, &reader, &seekable, &error);
    if (status == STEP_STATUS_OK) {
        const struct step_definition *definition = step_reader_borrow_definition(reader);
        print_shown_lines(definition->text, stdout);
        if (definition->text_length > 0 && definition->text[definition->text_length - 1] != '\n')
            putchar('\n');
    } else {
        report_error(&error);
    }
    step_reader_destroy(reader);
    seekable_path_close(&seekable);
    return status;
}
