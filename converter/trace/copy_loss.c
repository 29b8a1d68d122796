/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the reader of a STEP trace, or the source of another format, which stops at a fault. */
#include "converter/trace/copy_loss.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "steptrace/live.h"

/* Of the file and of the first block, the definition (docs/formats/step.md). */
#define FIRST_HEADERS_BYTES (32 + 96)

static const struct trace_about *innermost(const struct trace_about *about)
{
    while (about->inner != NULL)
        about = about->inner;
    return about;
}

static bool is_stopped(const struct trace_about *about)
{
    while (!about->is_stopped && about->inner != NULL)
        about = about->inner;
    return about->is_stopped;
}

/* Returns the value of a property; NULL: there is none. */
static const char *copy_loss_property(const struct trace_about *about, const char *key)
{
    struct trace_property property;
    for (size_t i = 0; (property = trace_property_of(about, i)).key.unshown != NULL; i++)
        if (trace_text_is(property.key, key))
            return property.value.unshown;
    return NULL;
}

/* Returns how many bytes are damaged of what the copy cannot have anew: neither of the definition,
 * the first block, which has a copy, nor behind the last block of records, where the index is. */
static uint64_t lost_bytes(const struct step_reader *reader)
{
    uint64_t end = 0, bytes = 0;
    for (size_t i = 0; i < step_reader_block_count(reader); i++) {
        const struct step_block_info *info = step_reader_block_info(reader, i);
        end = info->offset + info->stored_bytes > end ? info->offset + info->stored_bytes : end;
    }
    for (size_t i = 0; i < step_reader_damage_count(reader); i++) {
        const struct step_damage *damage = step_reader_damage(reader, i);
        if (damage->offset > FIRST_HEADERS_BYTES && damage->offset < end)
            bytes += damage->length;
    }
    return bytes;
}

const char *copy_loss_of(const struct trace_about *about, char text[COPY_LOSS_ROOM])
{
    const struct step_reader *reader = innermost(about)->reader;
    uint64_t lost = reader != NULL ? lost_bytes(reader) : 0;
    const char *known = copy_loss_property(about, TRACE_INCOMPLETE);
    if (known != NULL)
        return known;
    if (lost > 0)
        snprintf(text, COPY_LOSS_ROOM,
                 "copied without %" PRIu64 " damaged bytes: records or names may be missing", lost);
    else if (is_stopped(about))
        snprintf(text, COPY_LOSS_ROOM,
                 "copied up to a fault in the file: what followed is missing");
    else if (reader != NULL && !step_reader_is_whole(reader) &&
             step_reader_recovered_count(reader) == 0)
        snprintf(text, COPY_LOSS_ROOM, "copied from a file that is cut: what followed is missing");
    else
        return NULL;
    return text;
}

const char *copy_loss_recorded(const struct trace_about *about, char text[TRACE_GAP_ROOM])
{
    const char *gap = trace_gap_dropped(copy_loss_property(about, "dropped"), text);
    if (gap == NULL)
        gap = trace_gap_early(copy_loss_property(about, "end"));
    if (gap == NULL)
        gap = trace_gap_end(copy_loss_property(about, STEP_LIVE_MISSING_AFTER), text);
    return gap != NULL ? gap : copy_loss_property(about, TRACE_FILES_GAPS);
}

bool copy_loss_is_said(const struct trace_about *about)
{
    return innermost(about)->said_loss[0] != '\0';
}

const char *copy_loss_new(const struct trace_about *about, char text[COPY_LOSS_ROOM])
{
    const char *loss = copy_loss_of(about, text);
    return loss == text || loss == innermost(about)->said_loss ? loss : NULL;
}

struct step_bytes copy_loss_of_comment(struct step_bytes comment)
{
    const size_t length = sizeof COPY_LOSS_COMMENT - 1;
    if (comment.length <= length || memcmp(comment.data, COPY_LOSS_COMMENT, length) != 0)
        return (struct step_bytes){NULL, 0};
    return (struct step_bytes){comment.data + length, comment.length - length};
}

enum step_status copy_loss_put(const struct trace_about *about, struct step_writer *writer)
{
    char text[COPY_LOSS_ROOM], count[24];
    const char *loss = copy_loss_new(about, text);
    struct trace_summary summary = trace_summary_of(about);
    enum step_status status = STEP_STATUS_OK;
    snprintf(count, sizeof count, "%" PRIu64, summary.recovered);
    if (!summary.whole)
        status = step_writer_property(writer, RECOVERED_RECORDS, count);
    if (status == STEP_STATUS_OK && loss != NULL)
        status = step_writer_property(writer, TRACE_INCOMPLETE, loss);
    return status;
}

const char *copy_loss_of_reader(const struct step_reader *reader, char text[COPY_LOSS_ROOM])
{
    return copy_loss_of(&(struct trace_about){.reader = reader}, text);
}

enum step_status copy_loss_put_of_reader(const struct step_reader *reader,
                                         struct step_writer *writer)
{
    return copy_loss_put(&(struct trace_about){.reader = reader}, writer);
}
