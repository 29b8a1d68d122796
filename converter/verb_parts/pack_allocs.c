/* SPDX-License-Identifier: Apache-2.0 */
/* Record after record, through the sink of heap traces, in large blocks and strongly packed. */
#include "converter/verb_parts/pack_allocs.h"
#include "converter/base/error_report.h"

#include <inttypes.h>
#include <stdio.h>

#include "converter/open/pour.h"

static void report_sizes(const struct input *input, const char *output, uint64_t after)
{
    struct trace_summary summary;
    input->source->operations->summary(input->source, &summary);
    report_line("%s: %" PRIu64 " records, %" PRIu64 " bytes of %" PRIu64 " (%.1f %%)", output,
                input->allocs->record_count, after, summary.file_bytes,
                summary.file_bytes > 0 ? 100.0 * (double) after / (double) summary.file_bytes
                                       : 0.0);
}

enum step_status pack_allocs(const char *path, const struct trace_format *from, const char *output,
                             uint32_t block_records)
{
    const struct event_sink_options options = {.packed_block_records = block_records};
    const struct pouring pouring = {.to = trace_format_by_name("step"), .options = &options};
    struct event_selection selected;
    struct input input;
    uint64_t size_bytes;
    event_selection_init(&selected);
    enum step_status status = input_open(&input, path, from, &selected);
    if (status != STEP_STATUS_OK)
        return status;
    if (input.allocs == NULL) {
        struct step_error error;
        step_error_set(&error, STEP_STATUS_FORMAT, path, STEP_NO_OFFSET,
                       "neither STEP (steptrace convert makes it) nor a heap trace");
        report_error(&error);
        input_close(&input);
        return STEP_STATUS_CORRUPT;
    }
    status = input_pour(&input, &pouring, output, &size_bytes);
    if (status == STEP_STATUS_OK) {
        report_sizes(&input, output, size_bytes);
        status = input_report_damage(&input);
    }
    input_close(&input);
    return status;
}
