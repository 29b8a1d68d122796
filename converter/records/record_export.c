/* SPDX-License-Identifier: Apache-2.0 */
/* Reads, filters and writes records. */

#include <stdio.h>
#include <stdlib.h>

#include "converter/containers/no_memory.h"
#include "converter/files/sampled_trace.h"
#include "converter/files/trace_files.h"
#include "converter/output/output_file.h"
#include "converter/output/output_stream.h"
#include "converter/output/trace_output.h"
#include "converter/records/copy_trace.h"
#include "converter/records/record_dump.h"
#include "converter/records/record_filter.h"
#include "converter/records/record_values.h"
#include "converter/step/stepfile.h"
#include "converter/trace/copy_loss.h"
#include "converter/trace/events_as_allocs.h"

struct exporting {
    struct step_reader *reader;
    struct record_filter *filter;
    struct seekable_path seekable;
};

static enum step_status record_export_put(struct exporting *exporting, struct record_values *values,
                                          struct record_table *table, struct step_error *error)
{
    struct record_order *order;
    struct step_record_view view;
    enum step_status status = record_order_create(
        exporting->reader, record_filter_selection(exporting->filter), &order, error);
    while (status == STEP_STATUS_OK && !ferror(values->file) &&
           (status = record_order_next(order, &view, error)) == STEP_STATUS_OK) {
        if (!record_filter_takes(exporting->filter, &view))
            continue;
        if (table == NULL)
            record_values_put_line(values, &view);
        else if (!record_table_put(table, &view))
            break;
    }
    record_order_destroy(order);
    return status == STEP_STATUS_END                           ? STEP_STATUS_OK
           : status == STEP_STATUS_OK && !ferror(values->file) ? no_memory(error)
                                                               : status;
}

/* Returns the wanted record types that occur in the trace; the caller frees it. */
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

static enum step_status record_export_print_text(struct exporting *exporting,
                                                 const struct format_job *job,
                                                 struct output_file *file, struct step_error *error)
{
    struct record_values values;
    struct record_table *table = NULL;
    const struct step_output output = output_file_as_output(file);
    struct output_stream stream;
    enum step_status status =
        output_stream_open(&stream, &output, trace_format_packing(job->format, job->output),
                           format_settings_level(job->settings), error);
    if (status != STEP_STATUS_OK)
        return status;
    record_values_init(&values, exporting->reader, stream.file);
    if (job->format == &format_csv) {
        uint8_t *occurring = find_occurring(exporting);
        table = occurring != NULL ? record_table_create(&values, occurring) : NULL;
        free(occurring);
        if (table == NULL)
            status = no_memory(error);
        else
            record_table_put_head(table);
    }
    if (status == STEP_STATUS_OK)
        status = record_export_put(exporting, &values, table, error);
    record_table_destroy(table);
    if (status == STEP_STATUS_OK)
        status = output_stream_close(&stream, error);
    output_stream_reset(&stream);
    return status;
}

static enum step_status record_export_put_text(struct exporting *exporting,
                                               const struct format_job *job,
                                               struct step_error *error)
{
    struct output_file file;
    enum step_status status = output_file_open(&file, job->output, error);
    if (status == STEP_STATUS_OK)
        status =
            output_file_end(&file, record_export_print_text(exporting, job, &file, error), error);
    return status;
}

/* Copies block by block, to preserve the streams. */
static enum step_status copy_records(void *user, struct step_writer *writer,
                                     struct step_error *error)
{
    struct exporting *exporting = user;
    struct step_selection *selection = record_filter_selection(exporting->filter);
    struct step_block *block = NULL;
    struct step_record_view view, taken;
    enum step_status status = stepfile_copy_start(exporting->reader, writer);
    for (size_t i = 0; status == STEP_STATUS_OK && i < step_reader_block_count(exporting->reader);
         i++) {
        uint64_t stream = step_reader_block_info(exporting->reader, i)->stream;
        status =
            trace_load_block(exporting->reader, i, step_selection_wanted(selection), &block, error);
        bool is_lost = status == STEP_STATUS_END;
        status = is_lost ? STEP_STATUS_OK : status;
        while (!is_lost && status == STEP_STATUS_OK &&
               step_block_next(block, &view) == STEP_STATUS_OK)
            if (step_selection_view(selection, &view, &taken) &&
                record_filter_takes(exporting->filter, &taken))
                status = step_writer_put(writer, stream, taken.record, taken.slots);
    }
    step_block_destroy(block);
    return status == STEP_STATUS_OK ? copy_loss_put_of_reader(exporting->reader, writer) : status;
}

static enum step_status put_step(struct exporting *exporting, const struct format_job *job,
                                 struct step_error *error)
{
    struct step_writer_options options;
    int level = format_settings_level(job->settings);
    step_writer_options_init(&options);
    options.definition = step_reader_borrow_definition(exporting->reader);
    if (level != 0)
        options.level = level;
    return trace_write(job->output, &options, copy_records, exporting, NULL, error);
}

static enum step_status write_records(const struct format_job *job)
{
    struct exporting exporting = {0};
    struct step_error error = {.offset = STEP_NO_OFFSET};
    const struct record_selection selected = record_selection_of(job);
    enum step_status status = stepfile_open(job->input, NEEDS_ALL_OBJECTS, &exporting.reader,
                                            &exporting.seekable, &error);
    if (status == STEP_STATUS_OK)
        status = record_filter_create(exporting.reader, &selected, &exporting.filter, &error);
    if (status == STEP_STATUS_OK)
        status = job->format == &format_step ? put_step(&exporting, job, &error)
                                             : record_export_put_text(&exporting, job, &error);
    record_filter_destroy(exporting.filter);
    return stepfile_close(exporting.reader, &exporting.seekable, job->input, status, &error);
}

static const struct format_options *const text_options[] = {&record_options, NULL};

const struct trace_format format_csv = {
    .name = "csv",
    .ending = ".csv",
    .help = "a table of all records",
    .needs = FORMAT_NEEDS_RECORDS,
    .options = text_options,
    .packs_by_ending = true,
    .write = write_records,
};

const struct trace_format format_jsonl = {
    .name = "jsonl",
    .ending = ".jsonl",
    .help = "JSON lines, one object per record",
    .needs = FORMAT_NEEDS_RECORDS,
    .options = text_options,
    .packs_by_ending = true,
    .write = write_records,
};

static const struct format_options *const step_options[] = {
    &compression_options, &stepfile_options, &alloc_omit_options, &record_options, NULL};

const struct trace_format format_step = {
    .name = "step",
    .ending = ".step",
    .help = "STEP, what the agent writes",
    .options = step_options,
    .magic = "\x9eSTP",
    .open_source = stepfile_source_create,
    .sink = &stepfile_sink_operations,
    .alloc_sink = &stepfile_alloc_sink_operations,
    .write = write_records,
};
