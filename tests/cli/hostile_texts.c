/* SPDX-License-Identifier: Apache-2.0 */
/* hostile_texts IN OUT: copies a STEP trace; behind each of its strings and properties stands what
 * a terminal, a page or a table would obey. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "steptrace/reader.h"
#include "steptrace/writer.h"

#define SLOTS_MOST (1u << 16)

static const char hostile[] =
    "\x1b]0;OWNED\x07\x1b[2J\x1b[31m\x08\r\x7f\xc2\x9b"
    "32m\xd8\x9c\xe2\x80\xae\xe2\x80\xa8\xe2\x81\xa6\xff\xc0\x80\xed\xa0\x80</"
    "script><script>window.HOSTILE=1</script>"
    "<img src=x onerror=HOSTILE=2><!--\"'`;${7*7},$&\t\nFORGED 1\n&amp;\\";

/* Words that decide how the trace is read. */
static const char *const kept[] = {"engine", "sample", "clock", "layout", "end", "resolution-ns"};

/* Never freed: the writer reads them until its end. */
static uint64_t made_hostile(const struct step_bytes *old)
{
    struct step_bytes *bytes = malloc(sizeof *bytes);
    char *text = malloc(old->length + sizeof hostile);
    if (bytes == NULL || text == NULL)
        abort();
    if (old->length > 0)
        memcpy(text, old->data, old->length);
    memcpy(text + old->length, hostile, sizeof hostile);
    *bytes = (struct step_bytes){(const uint8_t *) text, old->length + sizeof hostile - 1};
    return step_slot_of_bytes(bytes);
}

static size_t change_strings(const struct step_definition *definition, uint32_t record,
                             uint64_t *slots, size_t at)
{
    for (size_t i = 0; i < definition->records[record].field_count; i++) {
        const struct step_field *field = &definition->records[record].fields[i];
        bool is_text = field->array_depth == 0 && !step_field_is_variant(field) &&
                       !step_field_is_identifier(field) && field->kind != STEP_TYPE_INT;
        if (is_text && field->kind == STEP_TYPE_RECORD) {
            at = change_strings(definition, field->record, slots, at);
            continue;
        }
        if (is_text)
            slots[at] = made_hostile(step_slot_bytes(slots[at]));
        at++;
    }
    return at;
}

static const uint64_t *changed(const struct step_definition *definition, uint32_t record,
                               const uint64_t *slots)
{
    static uint64_t copy[SLOTS_MOST];
    memcpy(copy, slots, step_record_slot_count(definition, record) * sizeof *copy);
    change_strings(definition, record, copy, 0);
    return copy;
}

static void copy_properties(const struct step_reader *reader, struct step_writer *writer)
{
    char text[8192];
    for (size_t i = 0; i < step_reader_property_count(reader); i++) {
        const char *key = step_reader_property_key(reader, i);
        const char *value = step_reader_property_value(reader, i);
        bool is_kept = false;
        for (size_t k = 0; k < sizeof kept / sizeof kept[0]; k++)
            is_kept = is_kept || strcmp(key, kept[k]) == 0;
        snprintf(text, sizeof text, "%.6000s%s", value, is_kept ? "" : hostile);
        step_writer_property(writer, key, text);
    }
    step_writer_property(writer, hostile, hostile);
}

static void copy_entries(const struct step_reader *reader, const struct step_definition *definition,
                         struct step_writer *writer)
{
    for (uint32_t record = 0; record < definition->record_count; record++)
        for (uint64_t id = 1; id <= step_reader_dictionary_count(reader, record); id++) {
            const uint64_t *slots = step_reader_dictionary_entry(reader, record, id);
            if (slots != NULL)
                step_writer_define(writer, record, changed(definition, record, slots), NULL);
        }
}

static enum step_status copy_blocks(struct step_reader *reader,
                                    const struct step_definition *definition,
                                    struct step_writer *writer, struct step_error *error)
{
    struct step_block *block = NULL;
    struct step_record_view view;
    enum step_status status = STEP_STATUS_OK;
    for (size_t i = 0; i < step_reader_block_count(reader) && status == STEP_STATUS_OK; i++) {
        status = step_reader_load(reader, i, NULL, &block, error);
        while (status == STEP_STATUS_OK && step_block_next(block, &view) == STEP_STATUS_OK)
            status = step_writer_put(writer, step_reader_block_info(reader, i)->stream, view.record,
                                     changed(definition, view.record, view.slots));
    }
    return status;
}

int main(int argc, char **argv)
{
    struct step_reader *reader;
    struct step_writer *writer;
    struct step_writer_options options;
    struct step_error error = {.message = "usage: hostile_texts IN OUT"};
    if (argc != 3 || step_reader_open(argv[1], &reader, &error) != STEP_STATUS_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    step_writer_options_init(&options);
    options.definition = step_reader_borrow_definition(reader);
    enum step_status status = step_writer_open(argv[2], &options, &writer, &error);
    if (status == STEP_STATUS_OK) {
        copy_properties(reader, writer);
        copy_entries(reader, options.definition, writer);
        status = copy_blocks(reader, options.definition, writer, &error);
    }
    if (status == STEP_STATUS_OK)
        status = step_writer_close(writer, &error);
    if (status != STEP_STATUS_OK)
        fprintf(stderr, "%s\n", error.message);
    fflush(stderr);
    _exit(status != STEP_STATUS_OK); /* skips the leak check: nothing is freed */
}
