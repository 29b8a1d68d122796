/* SPDX-License-Identifier: Apache-2.0 */
/* What a trace lacks, in sentences. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyses/report/findings/findings.h"
#include "converter/files/sampled_trace.h"
#include "converter/files/trace_gap.h"
#include "converter/records/copy_trace.h"
#include "steptrace/live.h"

static const char *recording_gap(const struct event_source *source)
{
    uint32_t kinds = event_source_not_recorded(source);
    const char *engine = event_source_property(source, "engine").unshown;
    if (engine != NULL && strcmp(engine, "walk") == 0)
        return "The trace has totals of classes alone (the agent's option engine=walk), of no "
               "thread "
               "or site, and no deaths.";
    if ((kinds & TRACE_KIND_BIT(EVENT_OBJECT_ALLOC)) != 0)
        return "Allocations were not recorded (the agent's option events=alloc).";
    if ((kinds & TRACE_KIND_BIT(EVENT_OBJECT_FREE)) != 0)
        return "Deaths were not recorded (the agent's option events=free): all objects count as "
               "alive.";
    return NULL;
}

/* What lived before the recording began is in no figure. */
static const char *existing_gap(const struct event_source *source)
{
    if (event_source_sample_interval(source) != 0 ||
        !trace_lacks_existing(event_source_property(source, "existing").unshown))
        return NULL;
    return "The live heap and its peak lack the objects from before: " TRACE_LACKS_EXISTING ".";
}

static const char *end_gap(const struct event_source *source, char text[TRACE_GAP_ROOM])
{
    struct trace_summary summary = trace_summary_of(&source->about);
    const char *missing = event_source_property(source, STEP_LIVE_MISSING_AFTER).unshown;
    if (summary.running)
        return "The program is still running; only the events recorded so far are there.";
    if (missing != NULL)
        return trace_gap_end(missing, text);
    const char *end = event_source_property(source, "end").unshown;
    if (trace_text_is_there(event_source_property(source, RECOVERED_RECORDS)))
        return "The trace was recovered: its program was killed, or the file was cut.";
    if (end != NULL && strcmp(end, TRACE_END_LIMIT) == 0)
        return "The trace ended at its limit (the agent's option limit=), before the program did.";
    if (!summary.whole || trace_damage_count(&source->about) > 0)
        return "The trace is not whole: the program was killed, or the file is cut or damaged.";
    return NULL;
}

void trace_gaps_each(const struct event_source *source, uint64_t not_probed,
                     void (*put)(void *user, const char *sentence), void *user)
{
    char end[TRACE_GAP_ROOM], lost[TRACE_GAP_ROOM], classes[TRACE_GAP_ROOM];
    char bias[SAMPLED_NOTE_ROOM], pauses[SAMPLED_NOTE_ROOM];
    snprintf(classes, sizeof classes, "%" PRIu64 " classes or methods could not be traced.",
             not_probed);
    const char *const gaps[] = {
        end_gap(source, end),
        existing_gap(source),
        trace_gap_dropped(event_source_property(source, "dropped").unshown, lost),
        trace_gap_early(event_source_property(source, "end").unshown),
        event_source_property(source, TRACE_INCOMPLETE).unshown,
        recording_gap(source),
        sampled_trace_bias(source->path, bias),
        sampled_trace_pauses(source->path, pauses),
        not_probed > 0 ? classes : NULL,
    };
    for (size_t i = 0; i < sizeof gaps / sizeof gaps[0]; i++)
        if (gaps[i] != NULL)
            put(user, gaps[i]);
}
