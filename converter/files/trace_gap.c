/* SPDX-License-Identifier: Apache-2.0 */
/* Uses the reader's state and the properties `dropped`, `end` and `missing-after-ns`. */
#include "converter/files/trace_gap.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "converter/cli/error_report.h"
#include "converter/numbers/quantity.h"
#include "converter/numbers/trace_ticks.h"
#include "steptrace/live.h"
#include "steptrace/reader.h"

const char *trace_gap_dropped(const char *dropped, char *text)
{
    uint64_t count = trace_number(dropped, 0);
    if (count == 0)
        return NULL;
    snprintf(text, TRACE_GAP_ROOM,
             "%s events were dropped while the buffers or the disk were full: all sums are too "
             "small",
             quantity_of_count(count).text);
    return text;
}

const char *trace_gap_end(const char *missing_after_ns, char *text)
{
    if (missing_after_ns == NULL)
        return NULL;
    snprintf(text, TRACE_GAP_ROOM,
             "the end of the trace was lost: records after %" PRIu64 " ns may be missing",
             trace_number(missing_after_ns, 0));
    return text;
}

const char *trace_gap_early(const char *end)
{
    if (end == NULL)
        return NULL;
    if (strcmp(end, "disk-full") == 0)
        return "the trace ends before its program did: the disk was full";
    if (strcmp(end, "memory") == 0)
        return "the trace ends before its program did: it needed more than memory= allowed";
    if (strcmp(end, "max-cpu") == 0)
        return "the trace ends before its program did: the agent took more than max-cpu= allowed";
    if (strcmp(end, "max-pause") == 0)
        return "the trace ends before its program did: the agent stopped the program for longer "
               "than max-pause= allowed";
    if (strcmp(end, "failed") == 0)
        return "the trace ends before its program did: the recorder failed";
    return NULL;
}

const char *trace_gap_any_early(const char *end)
{
    return end != NULL && strcmp(end, TRACE_END_LIMIT) == 0
               ? "the trace ends before its program did (limit=)"
               : trace_gap_early(end);
}

bool trace_reaches_end(const struct step_reader *reader)
{
    return step_reader_is_whole(reader) &&
           step_reader_property(reader, STEP_LIVE_MISSING_AFTER) == NULL;
}

const char *trace_gap(const struct step_reader *reader, char *text)
{
    const char *missing = step_reader_property(reader, STEP_LIVE_MISSING_AFTER);
    if (step_reader_is_running(reader))
        return TRACE_GAP_RUNNING;
    if (missing != NULL)
        return trace_gap_end(missing, text);
    if (!step_reader_is_whole(reader))
        return "the trace was not closed: it was cut, or its process was killed";
    return trace_gap_recorded(reader, text);
}

const char *trace_gap_recorded(const struct step_reader *reader, char *text)
{
    const char *files = step_reader_property(reader, TRACE_FILES_GAPS);
    if (files != NULL)
        return files;
    const char *early = trace_gap_early(step_reader_property(reader, "end"));
    if (early == NULL)
        early = trace_gap_dropped(step_reader_property(reader, "dropped"), text);
    return early != NULL ? early : step_reader_property(reader, TRACE_INCOMPLETE);
}

enum step_status report_reader_damage(const struct step_reader *reader, const char *path)
{
    char text[TRACE_GAP_ROOM];
    const char *gap = trace_gap(reader, text);
    enum step_status status = report_damaged_blocks(reader, path);
    if (status != STEP_STATUS_OK || gap == NULL)
        return status;
    report_line("%s: %s", path, gap);
    return STEP_STATUS_CORRUPT;
}
