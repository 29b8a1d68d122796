/* SPDX-License-Identifier: Apache-2.0 */
/* A source of allocations, a plan, and what was wrong with the source. */
#include "converter/replay/replay_trace.h"

#include <inttypes.h>
#include <stdio.h>

#include "converter/base/error_report.h"
#include "converter/base/no_memory.h"
#include "converter/open/open_trace.h"

static enum step_status put_records(struct alloc_source *source, struct replay_plan *plan,
                                    struct step_error *error)
{
    struct hatf_record record;
    for (;;) {
        enum step_status status = alloc_source_next(source, &record, error);
        if (status == STEP_STATUS_END)
            return STEP_STATUS_OK;
        if (status == STEP_STATUS_OK)
            status = replay_plan_put(plan, &record, error);
        if (status != STEP_STATUS_OK) {
            if (error->offset == STEP_NO_OFFSET)
                error->offset = alloc_source_offset(source);
            return status;
        }
    }
}

static void note_damage(struct replay_trace *trace, const char *name,
                        const struct alloc_source *source)
{
    size_t count = alloc_source_damage_count(source);
    for (size_t i = 0; i < count && !trace->is_damaged; i++) {
        const struct step_damage *damage = alloc_source_damage(source, i);
        char place[40] = "";
        if (damage->offset != STEP_NO_OFFSET)
            snprintf(place, sizeof place, "offset %" PRIu64 ": ", damage->offset);
        report_line("%s: %s%s", name, place, damage->message);
    }
    trace->is_damaged = trace->is_damaged || count > 0;
}

/* All records of the source, into pieces. */
static enum step_status make_pieces(struct alloc_source *source,
                                    const struct replay_plan_options *options,
                                    struct replay_counts *counts, struct step_error *error)
{
    struct replay_plan *plan = replay_plan_create(options);
    if (plan == NULL)
        return no_memory(error);
    enum step_status status = put_records(source, plan, error);
    if (status == STEP_STATUS_OK)
        status = replay_plan_finish(plan, error);
    if (status == STEP_STATUS_OK)
        *counts = *replay_plan_counts(plan);
    replay_plan_destroy(plan);
    return status;
}

enum step_status replay_trace_decode(struct replay_trace *trace,
                                     const struct replay_settings *settings,
                                     struct replay_pieces *pieces, struct step_error *error)
{
    const struct alloc_options options = {.addresses = ADDRESSES_BUMP};
    const struct replay_plan_options plan = {.is_threaded = settings->is_threaded,
                                             .is_paced = settings->is_paced,
                                             .refuses = settings->refuses,
                                             .begin_piece = replay_pieces_begin,
                                             .end_piece = replay_pieces_end,
                                             .user = pieces};
    struct alloc_source *source = NULL;
    replay_pieces_restart(pieces);
    enum step_status status =
        trace_open_allocs(settings->path, settings->format, &options, &source, error);
    if (status == STEP_STATUS_OK)
        status = make_pieces(source, &plan, &trace->counts, error);
    if (status == STEP_STATUS_OK)
        note_damage(trace, settings->name, source);
    else if (error->file[0] == '\0')
        snprintf(error->file, sizeof error->file, "%.255s", settings->name);
    if (source != NULL)
        alloc_source_destroy(source);
    return status;
}
