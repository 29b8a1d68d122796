/* SPDX-License-Identifier: Apache-2.0 */
/* Maps a trace's classes, threads, methods and call sites to rows of measures, by names that do not
 * change from run to run. */
#ifndef CONVERTER_STATISTICS_LASTING_NAMES_H
#define CONVERTER_STATISTICS_LASTING_NAMES_H

#include "converter/heap/heap_sites.h"
#include "converter/statistics/measures.h"
#include "converter/trace/event_selection.h"
#include "converter/trace/event_source.h"
#include "converter/trace/names.h"

#define LASTING_NAME_MOST 1024u

/* Writes the stable name of a class, at most `out_size` bytes, and returns the length. */
size_t lasting_class_name(struct step_bytes name, char *out, size_t out_size);
/* The same for a thread: each number becomes `#`. */
size_t lasting_thread_name(struct step_bytes name, char *out, size_t out_size);

/* These return a row, or 0 if memory runs out. */
uint32_t measure_class_row(struct measures *measures, const struct trace_names *names, uint32_t id);
uint32_t measure_thread_row(struct measures *measures, const struct trace_names *names,
                            uint32_t id);
uint32_t measure_method_row(struct measures *measures, const struct trace_names *names,
                            uint32_t id);
/* Returns the rows of all sites, by site number; the caller frees it.  NULL: out of memory. */
uint32_t *measure_sites(struct measures *measures, const struct heap_sites *sites);

/* Lets a pass that takes events of few kinds have those by which names without objects become
 * known. */
static inline void measures_want_names(struct event_selection *selected)
{
    selected->kinds |= TRACE_KIND_BIT(EVENT_CLASS_LOAD) | TRACE_KIND_BIT(EVENT_THREAD_BEGIN);
}
/* Returns why rules that do not hold cannot be judged, as the trace lacks something of the
 * program, or NULL.  Call it when the events are read. */
const char *measures_find_lack(const struct event_source *source,
                               const struct event_selection *selected);
/* Notes what a trace lacks, by measures_find_lack(). */
void measures_note_lack(struct measures *measures, const char *lack);
/* Notes the names of a trace, which rules may name whether they have rows or not, and whether some
 * pattern of the selection matches none of them.  is_empty: no event was selected.  Call it before
 * the trace's run is added.  Returns false if memory runs out. */
bool measures_note_names(struct measures *measures, const struct trace_names *names,
                         const struct event_selection *selected, bool is_empty);

#endif
