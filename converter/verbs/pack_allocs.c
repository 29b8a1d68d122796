/* SPDX-License-Identifier: Apache-2.0 */
/* Record after record, through the sink of heap traces, in large blocks and strongly packed. */
#include "converter/verbs/pack_allocs.h"
#include "converter/base/error_report.h"
#include "converter/base/output_file.h"
#include "converter/formats/step/stepfile.h"

#include <inttypes.h>
#include <stdio.h>

#include "converter/open/input.h"

static enum step_status put(void *user, const struct hatf_record *record, struct step_error *error)
{
    struct alloc_sink *sink = user;
    return sink->operations->put(sink, record, error);
}

static enum step_status pour(struct input *input, struct output_file *file, uint32_t block_records)
{
    const struct event_sink_options options = {.packed_block_records = block_records};
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct alloc_sink *sink;
    enum step_status status =
        stepfile_alloc_sink_create(file, input->source, &options, &sink, &error);
    if (status != STEP_STATUS_OK)
        return report_error(&error);
    status = input_each_record(input, put, sink);
    if (status == STEP_STATUS_OK) {
        status = sink->operations->close(sink, &error);
        if (status == STEP_STATUS_OK)
            status = output_file_commit(file, &error);
        if (status != STEP_STATUS_OK)
            report_error(&error);
    }
    sink->operations->destroy(sink);
    return status;
}

static void report_sizes(const struct input *input, const char *output, uint64_t after)
{
    struct trace_summary summary;
    input->source->operations->summary(input->source, &summary);
    tell("%s: %" PRIu64 " records, %" PRIu64 " bytes of %" PRIu64 " (%.1f %%)", output,
         input->allocs->record_count, after, summary.file_bytes,
         summary.file_bytes > 0 ? 100.0 * (double) after / (double) summary.file_bytes : 0.0);
}

enum step_status pack_allocs(const char *path, const char *output, uint32_t block_records)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct event_selection selected;
    struct input input;
    struct output_file file;
    event_selection_init(&selected);
    enum step_status status = input_open(&input, path, NULL, &selected);
    if (status != STEP_STATUS_OK)
        return status;
    status = output_file_open(&file, output, &error);
    if (status == STEP_STATUS_OK) {
        status = pour(&input, &file, block_records);
        output_file_abort(&file);
    } else {
        report_error(&error);
    }
    if (status == STEP_STATUS_OK) {
        report_sizes(&input, output, file.size_bytes);
        status = input_report_damage(&input);
    }
    input_close(&input);
    return status;
}
