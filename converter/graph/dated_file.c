/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a trace, dates its deaths, and reports what it lacks for that. */
#include "converter/graph/dated_file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "converter/cli/error_report.h"
#include "converter/files/sampled_trace.h"
#include "converter/files/spool.h"
#include "converter/output/output_file.h"
#include "converter/records/record_dump.h"

static void report_missing_parts(const char *path, const struct dated_summary *summary)
{
    if (!summary->has_references)
        report_line("%s: has no stores of references (the agent's option events=reference): deaths "
                    "are those that the collections found",
                    path);
    else if (!summary->has_calls)
        report_line("%s: has no calls (the agent's option events=method): for objects that only "
                    "frames referred to, the last store is a bound",
                    path);
    if (summary->has_references && summary->has_existing && !summary->has_first_snapshot)
        report_line("%s: has no snapshot of its start (the agent's option snapshot=start): what "
                    "existed before may have been held by references that were not recorded",
                    path);
}

/* Closes what was opened, and reports errors. */
static enum step_status end_dating(const char *path, struct step_reader *reader,
                                   struct seekable_path *seekable, enum step_status status,
                                   const struct dated_summary *summary,
                                   const struct step_error *error)
{
    if (status == STEP_STATUS_OK)
        report_missing_parts(path, summary);
    return stepfile_close(reader, seekable, path, status, error);
}

enum step_status date_deaths(const char *path, const char *output, struct dated_summary *summary)
{
    struct step_reader *reader = NULL;
    struct seekable_path seekable = {0};
    struct output_file file;
    struct step_error error = {.offset = STEP_NO_OFFSET};
    *summary = (struct dated_summary){0};
    enum step_status status = stepfile_open(path, NEEDS_ALL_OBJECTS, &reader, &seekable, &error);
    if (status == STEP_STATUS_OK)
        status = output_file_open(&file, output, &error);
    if (status == STEP_STATUS_OK) {
        const struct step_output to = output_file_as_output(&file);
        status = dated_trace_write(reader, &to, summary, &error);
        status = output_file_end(&file, status, &error);
        summary->is_written = status == STEP_STATUS_OK;
    }
    return end_dating(path, reader, &seekable, status, summary, &error);
}

enum step_status date_deaths_spooled(const char *path, struct dated_spool *spool)
{
    struct step_reader *reader = NULL;
    struct seekable_path seekable = {0};
    struct dated_summary summary = {0};
    struct step_error error = {.offset = STEP_NO_OFFSET};
    enum step_status status = stepfile_open(path, NEEDS_ALL_OBJECTS, &reader, &seekable, &error);
    *spool = (struct dated_spool){.descriptor = -1};
    if (status == STEP_STATUS_OK && dated_trace_is(reader) && strlen(path) < sizeof spool->path &&
        strcmp(path, "-") != 0) {
        snprintf(spool->path, sizeof spool->path, "%s", path);
        step_reader_destroy(reader);
        seekable_path_close(&seekable);
        return STEP_STATUS_OK;
    }
    if (status == STEP_STATUS_OK)
        status = spool_open(&spool->descriptor, &error);
    if (status == STEP_STATUS_OK) {
        const struct step_output to = spool_as_output(&spool->descriptor);
        snprintf(spool->path, sizeof spool->path, "/proc/self/fd/%d", spool->descriptor);
        status = dated_trace_write(reader, &to, &summary, &error);
        if (status != STEP_STATUS_OK) {
            close(spool->descriptor);
            *spool = (struct dated_spool){.descriptor = -1};
        }
    }
    return end_dating(path, reader, &seekable, status, &summary, &error);
}
