/* SPDX-License-Identifier: Apache-2.0 */
/* What a copy of a trace lacks since its source was cut or damaged, or its recorder lost events. No
 * reader finds a fault in the copy, so it says that itself, in the properties `recovered-records`
 * and `incomplete`.  A copy in a format without properties has the latter in a comment behind the
 * last record, or of its ZIP file. */
#ifndef CONVERTER_TRACE_COPY_LOSS_H
#define CONVERTER_TRACE_COPY_LOSS_H

#include "converter/files/trace_gap.h"
#include "converter/trace/trace_about.h"
#include "steptrace/hatf.h"
#include "steptrace/writer.h"

enum { COPY_LOSS_ROOM = 96 };

/* Returns what the copy lacks, for people; NULL: nothing.  Call it after the last record was read.
 * `text` provides the room for it. */
const char *copy_loss_of_reader(const struct step_reader *reader, char text[COPY_LOSS_ROOM]);

const char *copy_loss_of(const struct trace_about *about, char text[COPY_LOSS_ROOM]);
/* The same of what the recorder said it lost, which properties of the source tell. */
const char *copy_loss_recorded(const struct trace_about *about, char text[TRACE_GAP_ROOM]);
/* Returns true if a comment of the source said so. */
bool copy_loss_is_said(const struct trace_about *about);
/* Returns it if the properties at the start of the copy do not have it already. */
const char *copy_loss_new(const struct trace_about *about, char text[COPY_LOSS_ROOM]);
/* The comment, and its text in a comment; {NULL, 0}: it is another one. */
#define COPY_LOSS_COMMENT "steptrace: the trace is incomplete: "
struct step_bytes copy_loss_of_comment(struct step_bytes comment);

/* Put the properties into a copy that already has those of its source. */
enum step_status copy_loss_put(const struct trace_about *about, struct step_writer *writer);
enum step_status copy_loss_put_of_reader(const struct step_reader *reader,
                                         struct step_writer *writer);

#endif
