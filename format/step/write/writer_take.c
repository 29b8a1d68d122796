/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Start and end of each call of the writer: checks its status, accepts or refuses a record.
 *
 * There are two kinds of failure.  A record that violates its definition is refused, counted, and
 * reported at the end; the trace is right without it.  A failure of memory or output ends the
 * trace.
 */
#include "format/step/write/writer_internal.h"

enum step_status step_writer_keep(struct step_writer *writer, enum step_status status,
                                  const char *message)
{
    if (status == STEP_STATUS_OK || writer->status != STEP_STATUS_OK)
        return writer->status;
    writer->status = status;
    if (writer->error.status == STEP_STATUS_OK)
        step_error_set(&writer->error, status, NULL, STEP_NO_OFFSET, "%s",
                       message != NULL ? message : step_status_text(status));
    return status;
}

enum step_status step_writer_ready(struct step_writer *writer)
{
    if (writer->closed)
        return step_writer_keep(writer, STEP_STATUS_INVALID, "the writer was closed");
    return writer->status;
}

enum step_status step_writer_refuse(struct step_writer *writer, const struct step_error *error)
{
    if (writer->refused_count++ == 0)
        writer->refusal = *error;
    return error->status;
}

enum step_status step_writer_refuse_record(struct step_writer *writer, uint32_t record)
{
    struct step_error error;
    step_error_set(&error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET,
                   "the definition has no record type %u", record);
    return step_writer_refuse(writer, &error);
}

/* The check is before the record is stored, because a refused record must change nothing.  The
 * paper has an error for a `constant` that varies (B.1), and a fixed size is a promise likewise:
 * readers rely on the definition, whatever the layout could store.  If storing fails after the
 * check has passed, the check forgets what it learnt from this record. */
enum step_status step_writer_append(struct step_writer *writer, struct step_pending *rows,
                                    uint32_t record, const uint64_t *slots)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    bool checked = writer->plan->records[record].checked;
    enum step_status status = STEP_STATUS_OK;
    if (checked)
        status = step_check_record(&writer->check, writer->plan, record, slots, &error);
    if (status != STEP_STATUS_OK)
        return status == STEP_STATUS_NO_MEMORY ? step_writer_keep(writer, status, NULL)
                                               : step_writer_refuse(writer, &error);
    status = step_pending_append(rows, writer->plan, record, slots);
    if (status == STEP_STATUS_OK || status == STEP_STATUS_NO_MEMORY)
        return step_writer_keep(writer, status, NULL);
    if (checked)
        step_check_forget(&writer->check);
    step_error_set(&error, status, NULL, STEP_NO_OFFSET,
                   status == STEP_STATUS_LIMIT
                       ? "a record %s is too large: one takes at most %u MiB"
                       : "a record %s has a value of a type that does not extend its field's",
                   writer->options.definition->records[record].name,
                   (unsigned) (STEP_MAX_RECORD_BYTES >> 20));
    return step_writer_refuse(writer, &error);
}
