/* SPDX-License-Identifier: Apache-2.0 */
/* Selects and prints records. */
#include "converter/records/record_dump.h"
#include "converter/base/error_report.h"
#include "converter/base/given_definition.h"

#include <stdlib.h>
#include <string.h>

#include "converter/base/no_memory.h"
#include "converter/records/record_filter.h"
#include "converter/records/record_text.h"

struct dumping {
    const struct record_dump *dump;
    struct step_reader *reader;
    const struct step_definition *definition;
    struct record_filter *filter;
    struct record_text *text;
    struct seekable_path seekable;
};

static enum step_status prepare(struct dumping *dumping, struct step_error *error)
{
    dumping->definition = step_reader_borrow_definition(dumping->reader);
    dumping->text = record_text_create(dumping->reader);
    if (dumping->text == NULL)
        return no_memory(error);
    return record_filter_create(dumping->reader, &dumping->dump->selected, &dumping->filter, error);
}

static enum step_status put_records(struct dumping *dumping, struct step_error *error)
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

enum step_status record_open(const char *path, struct step_reader **reader,
                             struct seekable_path *seekable, struct step_error *error)
{
    enum step_status status = seekable_path_open(seekable, path, error);
    if (status == STEP_STATUS_OK)
        status = open_with_given_definition(seekable->path, reader, error);
    if (status == STEP_STATUS_OK || status == STEP_STATUS_NO_MEMORY || status == STEP_STATUS_IO ||
        status == STEP_STATUS_NOT_FOUND)
        return status;
    return error->status = STEP_STATUS_CORRUPT;
}

enum step_status record_close(struct step_reader *reader, struct seekable_path *seekable,
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
    enum step_status status = record_open(path, &dumping.reader, &dumping.seekable, &error);
    if (status == STEP_STATUS_OK)
        status = prepare(&dumping, &error);
    if (status == STEP_STATUS_OK && dump->entries)
        put_entries(&dumping);
    else if (status == STEP_STATUS_OK)
        status = put_records(&dumping, &error);
    record_filter_destroy(dumping.filter);
    record_text_destroy(dumping.text);
    return record_close(dumping.reader, &dumping.seekable, path, status, &error);
}

enum step_status record_dump_definition(const char *path)
{
    struct step_reader *reader = NULL;
    struct seekable_path seekable = {0};
    struct step_error error = {.offset = STEP_NO_OFFSET};
    enum step_status status = record_open(path, &reader, &seekable, &error);
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
