/* SPDX-License-Identifier: Apache-2.0 */
/* Reading, filtering, writing. */
#include "converter/records/record_export.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "converter/base/no_memory.h"
#include "converter/files/output_file.h"
#include "converter/open/input.h"
#include "converter/records/copy_trace.h"
#include "converter/records/record_dump.h"
#include "converter/records/record_values.h"

struct exporting {
    struct step_reader *reader;
    struct record_filter *filter;
    struct output_file file;
    struct seekable_path seekable;
};

/* STEP has no name here: it is meant where records are chosen. */
static const struct {
    const char *name, *ending;
    enum record_format format;
    const char *help;
} formats[] = {
    {"jsonl", ".jsonl", RECORDS_AS_JSON_LINES,
     ".jsonl     JSON lines, an object a record                    (out)"},
    {"csv", ".csv", RECORDS_AS_CSV,
     ".csv       a table                                           (out)"},
    {NULL, NULL, RECORDS_AS_STEP,
     ".step      STEP, of the same definition                      (out)"},
};

enum record_format record_format_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (formats[i].name != NULL && strcmp(name, formats[i].name) == 0)
            return formats[i].format;
    return RECORDS_AS_NOTHING;
}

enum record_format record_format_by_ending(const char *path)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        if (formats[i].ending == NULL)
            continue;
        size_t length = strlen(path), ending = strlen(formats[i].ending);
        if (length >= ending && strcmp(path + length - ending, formats[i].ending) == 0)
            return formats[i].format;
    }
    return RECORDS_AS_NOTHING;
}

void record_format_help(char *out, size_t out_size)
{
    size_t used = 0;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0] && used < out_size; i++)
        used += (size_t) snprintf(out + used, out_size - used, "  %s\n", formats[i].help);
}

/* What stdio writes goes to the output file. */
static ssize_t write_on(void *user, const char *data, size_t length)
{
    struct output_file *file = user;
    return output_file_write(file, data, length, NULL) == STEP_STATUS_OK ? (ssize_t) length : 0;
}

static enum step_status put_records(struct exporting *exporting, struct record_values *values,
                                    struct record_table *table, struct step_error *error)
{
    struct step_records *records;
    struct step_record_view view;
    enum step_status status = step_records_create(
        exporting->reader, record_filter_selection(exporting->filter), &records, error);
    if (status != STEP_STATUS_OK)
        return status;
    while (!ferror(values->file) &&
           (status = step_records_next(records, &view, error)) == STEP_STATUS_OK) {
        if (!record_filter_takes(exporting->filter, &view))
            continue;
        if (table == NULL)
            record_values_put_line(values, &view);
        else if (!record_table_put(table, &view))
            break;
    }
    step_records_destroy(records);
    return status == STEP_STATUS_END                           ? STEP_STATUS_OK
           : status == STEP_STATUS_OK && !ferror(values->file) ? no_memory(error)
                                                               : status;
}

/* Of the wanted records those that the trace has; the caller frees it. */
static uint8_t *find_occurring(const struct exporting *exporting)
{
    size_t count = step_reader_borrow_definition(exporting->reader)->record_count;
    const uint8_t *wanted = step_selection_wanted(record_filter_selection(exporting->filter));
    uint8_t *occurring = calloc(count + 1, sizeof *occurring);
    for (size_t k = 0; occurring != NULL && k < step_reader_block_count(exporting->reader); k++) {
        const struct step_block_info *info = step_reader_block_info(exporting->reader, k);
        for (size_t i = 0; i < info->type_count; i++)
            occurring[info->counts[i].record] |= wanted[info->counts[i].record];
    }
    return occurring;
}

static enum step_status put_text(struct exporting *exporting, enum record_format format,
                                 struct step_error *error)
{
    struct record_values values;
    struct record_table *table = NULL;
    FILE *file = fopencookie(&exporting->file, "w", (cookie_io_functions_t){.write = write_on});
    if (file == NULL)
        return no_memory(error);
    record_values_init(&values, exporting->reader, file);
    enum step_status status = STEP_STATUS_OK;
    if (format == RECORDS_AS_CSV) {
        uint8_t *occurring = find_occurring(exporting);
        table = occurring != NULL ? record_table_create(&values, occurring) : NULL;
        free(occurring);
        if (table == NULL)
            status = no_memory(error);
        else
            record_table_put_head(table);
    }
    if (status == STEP_STATUS_OK)
        status = put_records(exporting, &values, table, error);
    record_table_destroy(table);
    bool failed = fflush(file) != 0 || ferror(file);
    fclose(file);
    if (failed && status == STEP_STATUS_OK)
        status = step_error_set(error, STEP_STATUS_IO, exporting->file.path, STEP_NO_OFFSET, "%s",
                                strerror(errno));
    return status;
}

/* Block by block, so that streams stay what they are. */
static enum step_status copy_records(struct exporting *exporting, struct step_writer *writer,
                                     struct step_error *error)
{
    struct step_selection *selection = record_filter_selection(exporting->filter);
    struct step_block *block = NULL;
    struct step_record_view view, taken;
    enum step_status status = stepfile_copy_start(exporting->reader, writer);
    for (size_t i = 0; status == STEP_STATUS_OK && i < step_reader_block_count(exporting->reader);
         i++) {
        uint64_t stream = step_reader_block_info(exporting->reader, i)->stream;
        status =
            step_reader_load(exporting->reader, i, step_selection_wanted(selection), &block, error);
        bool is_lost =
            status != STEP_STATUS_OK && status != STEP_STATUS_NO_MEMORY && status != STEP_STATUS_IO;
        if (is_lost) /* the reader keeps note of it */
            status = STEP_STATUS_OK;
        while (!is_lost && status == STEP_STATUS_OK &&
               step_block_next(block, &view) == STEP_STATUS_OK)
            if (step_selection_view(selection, &view, &taken) &&
                record_filter_takes(exporting->filter, &taken))
                status = step_writer_put(writer, stream, taken.record, taken.slots);
    }
    step_block_destroy(block);
    return status;
}

static enum step_status put_step(struct exporting *exporting, int level, struct step_error *error)
{
    struct step_writer_options options;
    struct step_writer *writer;
    step_writer_options_init(&options);
    options.definition = step_reader_borrow_definition(exporting->reader);
    options.output = output_file_as_output(&exporting->file);
    if (level != 0)
        options.level = level;
    enum step_status status = step_writer_create(&options, &writer, error);
    if (status != STEP_STATUS_OK)
        return status;
    enum step_status copied = copy_records(exporting, writer, error);
    struct step_error closing = {.offset = STEP_NO_OFFSET};
    status = step_writer_close(writer, &closing);
    step_writer_destroy(writer);
    if (status != STEP_STATUS_OK)
        *error = closing; /* the writer's first error */
    return status != STEP_STATUS_OK ? status : copied;
}

static enum step_status write_output(struct exporting *exporting, const char *output,
                                     enum record_format format, int level, struct step_error *error)
{
    enum step_status status = output_file_open(&exporting->file, output, error);
    if (status != STEP_STATUS_OK)
        return status;
    status = format == RECORDS_AS_STEP ? put_step(exporting, level, error)
                                       : put_text(exporting, format, error);
    if (status == STEP_STATUS_OK)
        status = output_file_commit(&exporting->file, error);
    output_file_abort(&exporting->file);
    return status;
}

enum step_status record_export(const char *path, const char *output, enum record_format format,
                               int level, const struct record_selection *selected)
{
    struct exporting exporting = {0};
    struct step_error error = {.offset = STEP_NO_OFFSET};
    enum step_status status = record_open(path, &exporting.reader, &exporting.seekable, &error);
    if (status == STEP_STATUS_OK)
        status = record_filter_create(exporting.reader, selected, &exporting.filter, &error);
    if (status == STEP_STATUS_OK)
        status = write_output(&exporting, output, format, level, &error);
    if (status == STEP_STATUS_OK)
        status = report_reader_damage(exporting.reader, path);
    else
        report_error(&error);
    record_filter_destroy(exporting.filter);
    step_reader_destroy(exporting.reader);
    seekable_path_close(&exporting.seekable);
    return status;
}
