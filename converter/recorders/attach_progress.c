/* SPDX-License-Identifier: Apache-2.0 */
/* Counts events by the heads of the blocks that the trace has so far. */
#include "converter/recorders/attach_progress.h"

#include <stdio.h>
#include <unistd.h>

#include "converter/files/monotonic_time.h"
#include "converter/numbers/quantity.h"

#define SECOND_NS UINT64_C(1000000000)
#define LINE_COLUMNS 79
/* A look that takes long is followed by a rest of that many times as long. */
#define REST_SHARE 20

void attach_progress_begin(struct attach_progress *progress, const char *trace,
                           uint64_t duration_ns)
{
    *progress = (struct attach_progress){.trace = trace,
                                         .duration_ns = duration_ns,
                                         .is_shown = isatty(STDERR_FILENO) != 0,
                                         .start_ns = monotonic_ns()};
}

/* The trace begins a little later than the command that waits for it. */
static void count_events(struct attach_progress *progress)
{
    struct step_error ignored;
    bool running;
    if (progress->trace == NULL ||
        (progress->reader == NULL &&
         step_reader_open(progress->trace, &progress->reader, &ignored) != STEP_STATUS_OK) ||
        step_reader_refresh(progress->reader, &running, &ignored) != STEP_STATUS_OK)
        return;
    for (; progress->blocks_seen < step_reader_block_count(progress->reader);
         progress->blocks_seen++)
        progress->events +=
            step_reader_block_info(progress->reader, progress->blocks_seen)->record_count;
}

void attach_progress_show(struct attach_progress *progress)
{
    uint64_t now_ns = monotonic_ns(), seconds = (now_ns - progress->start_ns) / SECOND_NS;
    char time[64], line[192];
    if (!progress->is_shown || now_ns < progress->next_ns)
        return;
    count_events(progress);
    uint64_t rest_ns = REST_SHARE * (monotonic_ns() - now_ns);
    progress->next_ns = now_ns + (rest_ns > SECOND_NS ? rest_ns : SECOND_NS);
    if (progress->duration_ns != 0)
        snprintf(time, sizeof time, "%llu of %s", (unsigned long long) seconds,
                 quantity_of_ns((double) progress->duration_ns).text);
    else
        snprintf(time, sizeof time, "%llu s, Ctrl-C ends the trace", (unsigned long long) seconds);
    if (progress->reader != NULL)
        snprintf(line, sizeof line, "recording: %s, %s events, %s", time,
                 quantity_of_count(progress->events).text,
                 quantity_of_bytes((double) step_reader_file_size(progress->reader)).text);
    else
        snprintf(line, sizeof line, "recording: %s", time);
    fprintf(stderr, "\r%-*.*s", LINE_COLUMNS, LINE_COLUMNS, line);
    fflush(stderr);
    progress->has_line = true;
}

uint64_t attach_progress_end(struct attach_progress *progress)
{
    if (progress->has_line)
        fprintf(stderr, "\r%*s\r", LINE_COLUMNS, "");
    step_reader_destroy(progress->reader);
    progress->reader = NULL;
    return monotonic_ns() - progress->start_ns;
}
