/* SPDX-License-Identifier: Apache-2.0 */
/* Answers what a source knows of its trace, from its reader, its own notes, or the source that it
 * is made of. */
#include "converter/trace/trace_about.h"

#include <stdio.h>

#include "converter/files/trace_gap.h"

struct trace_summary trace_summary_of(const struct trace_about *about)
{
    const struct step_reader *reader = about->reader;
    struct trace_summary summary = {.format = about->format,
                                    .whole = true,
                                    .file_bytes = about->file_bytes,
                                    .resolution_ns = about->resolution_ns};
    if (about->inner != NULL)
        summary = trace_summary_of(about->inner);
    if (reader != NULL) {
        summary.whole = trace_reaches_end(reader);
        summary.running = step_reader_is_running(reader);
        summary.recovered = step_reader_recovered_count(reader);
        summary.file_bytes = step_reader_file_size(reader);
    }
    summary.whole = summary.whole && !about->is_stopped;
    return summary;
}

struct trace_property trace_property_of(const struct trace_about *about, size_t i)
{
    while (about->inner != NULL)
        about = about->inner;
    if (about->reader == NULL && i == about->property_count && about->said_loss[0] != '\0')
        return (struct trace_property){trace_text_of(TRACE_INCOMPLETE),
                                       trace_text_of(about->said_loss)};
    if (about->reader == NULL)
        return i < about->property_count ? about->properties[i]
                                         : (struct trace_property){.key = {NULL}};
    return i < step_reader_property_count(about->reader)
               ? (struct trace_property){trace_text_of(step_reader_property_key(about->reader, i)),
                                         trace_text_of(
                                             step_reader_property_value(about->reader, i))}
               : (struct trace_property){.key = {NULL}};
}

static size_t inner_damage_count(const struct trace_about *about)
{
    return about->inner != NULL    ? trace_damage_count(about->inner)
           : about->reader != NULL ? step_reader_damage_count(about->reader)
                                   : 0;
}

size_t trace_damage_count(const struct trace_about *about)
{
    return inner_damage_count(about) + about->has_damage;
}

const struct step_damage *trace_damage(const struct trace_about *about, size_t i)
{
    if (i >= inner_damage_count(about))
        return &about->damage;
    return about->inner != NULL ? trace_damage(about->inner, i)
                                : step_reader_damage(about->reader, i);
}

void trace_stop_at_damage(struct trace_about *about, const struct step_error *error)
{
    about->has_damage = about->is_stopped = true;
    about->damage.offset = error->offset;
    snprintf(about->damage.message, sizeof about->damage.message, "%.159s", error->message);
}
