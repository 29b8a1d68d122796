/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a trace, writes it with exact deaths, and reports the result. */
#include "converter/verbs/date_deaths.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "converter/base/error_report.h"
#include "converter/base/output_file.h"
#include "converter/base/quantity.h"
#include "converter/formats/input.h"
#include "converter/records/record_dump.h"

static void report_missing_parts(const char *path, const struct dated_summary *summary)
{
    if (!summary->has_references)
        report_line("%s: has no stores of references (the agent's option events=reference): deaths "
                    "are those that the collections found",
                    path);
    else if (!summary->has_calls)
        report_line("%s: has no calls (the agent's option events=method): what only frames had is "
                    "bounded by its last store",
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
    return record_close(reader, seekable, path, status, error);
}

enum step_status date_deaths(const char *path, const char *output, struct dated_summary *summary)
{
    struct step_reader *reader = NULL;
    struct seekable_path seekable = {0};
    struct output_file file;
    struct step_error error = {.offset = STEP_NO_OFFSET};
    *summary = (struct dated_summary){0};
    enum step_status status = record_open(path, &reader, &seekable, &error);
    if (status == STEP_STATUS_OK)
        status = output_file_open(&file, output, &error);
    if (status == STEP_STATUS_OK) {
        const struct step_output to = output_file_as_output(&file);
        status = dated_trace_write(reader, &to, summary, &error);
        if (status == STEP_STATUS_OK)
            status = output_file_commit(&file, &error);
        summary->is_written = status == STEP_STATUS_OK;
        output_file_abort(&file);
    }
    return end_dating(path, reader, &seekable, status, summary, &error);
}

static enum step_status write_spool(void *user, const void *data, size_t length,
                                    struct step_error *error)
{
    const struct dated_spool *spool = user;
    for (const char *at = data; length > 0;) {
        ssize_t written = write(spool->descriptor, at, length);
        if (written < 0 && errno != EINTR)
            return step_error_set(error, STEP_STATUS_IO, NULL, STEP_NO_OFFSET,
                                  "a temporary file: %s", strerror(errno));
        at += written > 0 ? written : 0;
        length -= written > 0 ? (size_t) written : 0;
    }
    return STEP_STATUS_OK;
}

enum step_status date_deaths_spooled(const char *path, struct dated_spool *spool)
{
    struct step_reader *reader = NULL;
    struct seekable_path seekable = {0};
    struct dated_summary summary = {0};
    struct step_error error = {.offset = STEP_NO_OFFSET};
    enum step_status status = record_open(path, &reader, &seekable, &error);
    spool->descriptor = -1;
    if (status == STEP_STATUS_OK && dated_trace_is(reader) && strlen(path) < sizeof spool->path &&
        strcmp(path, "-") != 0) {
        snprintf(spool->path, sizeof spool->path, "%s", path);
        step_reader_destroy(reader);
        seekable_path_close(&seekable);
        return STEP_STATUS_OK;
    }
    if (status == STEP_STATUS_OK && (spool->descriptor = output_file_spool()) < 0)
        status = step_error_set(&error, STEP_STATUS_IO, NULL, STEP_NO_OFFSET,
                                "a temporary file: %s", strerror(errno));
    if (status == STEP_STATUS_OK) {
        const struct step_output to = {.user = spool, .write = write_spool};
        snprintf(spool->path, sizeof spool->path, "/proc/self/fd/%d", spool->descriptor);
        status = dated_trace_write(reader, &to, &summary, &error);
        if (status != STEP_STATUS_OK)
            close(spool->descriptor);
    }
    return end_dating(path, reader, &seekable, status, &summary, &error);
}

static void report_unknown(const char *output, const struct graph_unknowns *unknown)
{
    uint64_t all = unknown->holders + unknown->targets + unknown->sources + unknown->frees;
    if (all > 0)
        report_line(
            "%s: the trace names objects that it has no allocation of, or that are dead: %s "
            "holders, %s targets, %s sources of copies, %s frees",
            output, quantity_of_count(unknown->holders).text,
            quantity_of_count(unknown->targets).text, quantity_of_count(unknown->sources).text,
            quantity_of_count(unknown->frees).text);
}

void date_deaths_report(const char *output, const struct dated_summary *summary)
{
    report_line("%s: %s deaths exact, %s bounds, %s by the collection only; %s objects live",
                output, quantity_of_count(summary->counts[TOUCH_CUT]).text,
                quantity_of_count(summary->counts[TOUCH_USE]).text,
                quantity_of_count(summary->counts[TOUCH_NONE]).text,
                quantity_of_count(summary->living).text);
    report_unknown(output, &summary->unknown);
    const struct death_errors *errors = &summary->errors;
    uint64_t all = errors->within + errors->earlier;
    if (!summary->has_full_collections || all == 0)
        return;
    double share = 100.0 * (double) errors->within / (double) all;
    double mean = errors->earlier > 0 ? (double) errors->ticks / (double) errors->earlier : 0.0;
    report_line("%s: %.2f %% after the last collection that found them alive, the others by %s too "
                "early in the mean, %s at most (put right)",
                output, share, quantity_of_ns(mean * (double) summary->resolution_ns).text,
                quantity_of_ns((double) errors->most * (double) summary->resolution_ns).text);
}
