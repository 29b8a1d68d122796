/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries of dictionaries: limits for pending ones, and for the memory that readers need for them.
 *
 * A reader keeps all entries for as long as it is open, since any record may name any of them.  So
 * their sum has a limit for the whole file, which the writer reckons as the reader will, and
 * refuses entries beyond it.  A refused entry has the id 0, which stands for none.
 */
#include <inttypes.h>

#include "format/step/write/writer_internal.h"

/* Memory limit of pending entries, beyond which they are written. */
#define MOST_DICTIONARY_MEMORY ((size_t) 128 << 20)
/* Memory of a dictionary block besides its entries, in all and for each of their slots. */
enum { DICTIONARY_BLOCK_BYTES = 512, DICTIONARY_SLOT_BYTES = 64 };

/* Returns the memory that a reader needs for the pending entries of the dictionary. */
static uint64_t dictionary_bytes(const struct step_writer *writer, uint32_t record)
{
    const struct step_pending *rows = &writer->dictionaries[record].rows;
    uint64_t slot_count = writer->plan->records[record].slot_count;
    return rows->record_count == 0
               ? 0
               : step_pending_decoded_bytes(rows) +
                     rows->record_count * slot_count * sizeof(uint64_t) + DICTIONARY_BLOCK_BYTES +
                     slot_count * DICTIONARY_SLOT_BYTES;
}

static enum step_status refuse_entry(struct step_writer *writer, uint32_t record)
{
    struct step_error error;
    step_error_set(&error, STEP_STATUS_LIMIT, NULL, STEP_NO_OFFSET,
                   "an entry %s: all dictionaries together pass the limit of %" PRIu64 " bytes",
                   writer->options.definition->records[record].name, STEP_MAX_DICTIONARY_MEMORY);
    return step_writer_refuse(writer, &error);
}

/* What an entry costs a reader is known only when it is stored, as strings and nested records have
 * no fixed size.  So the entry is appended first, and taken back if the sum passes the limit.  With
 * it goes what the check has learnt from it: the first value of a `constant` field must be one that
 * is in the file.  Ids are given at once, although the block comes later; they stay right because
 * entries are written in the order in which they were defined, without gaps. */
enum step_status step_writer_define(struct step_writer *writer, uint32_t record,
                                    const uint64_t *slots, uint64_t *id)
{
    if (step_writer_ready(writer) != STEP_STATUS_OK)
        return writer->status;
    if (record >= writer->options.definition->record_count)
        return step_writer_refuse_record(writer, record);
    struct step_writer_dictionary *dictionary = &writer->dictionaries[record];
    if (id != NULL)
        *id = 0;
    enum step_status status = STEP_STATUS_OK;
    if (dictionary->rows.record_count >= STEP_MAX_DICTIONARY_BLOCK_RECORDS ||
        step_pending_memory(&dictionary->rows) > MOST_DICTIONARY_MEMORY)
        status = step_writer_pending(writer);
    if (status != STEP_STATUS_OK)
        return step_writer_keep(writer, status, NULL);
    struct step_pending_mark mark = step_pending_mark(&dictionary->rows);
    uint64_t before = dictionary_bytes(writer, record);
    status = step_writer_append(writer, &dictionary->rows, record, slots);
    if (status != STEP_STATUS_OK)
        return status;
    uint64_t more = dictionary_bytes(writer, record) - before;
    if (more > STEP_MAX_DICTIONARY_MEMORY - writer->dictionary_bytes) {
        step_pending_rewind(&dictionary->rows, &mark);
        if (writer->plan->records[record].checked)
            step_check_forget(&writer->check);
        return refuse_entry(writer, record);
    }
    writer->dictionary_bytes += more;
    writer->dictionaries_pending = true;
    if (id != NULL)
        *id = dictionary->written_count + dictionary->rows.record_count;
    return status;
}

uint64_t step_writer_dictionary_count(const struct step_writer *writer, uint32_t record)
{
    if (record >= writer->options.definition->record_count)
        return 0;
    return writer->dictionaries[record].written_count +
           writer->dictionaries[record].rows.record_count;
}

enum step_status step_writer_resume_dictionary(struct step_writer *writer, uint32_t record,
                                               uint64_t count)
{
    if (step_writer_ready(writer) != STEP_STATUS_OK)
        return writer->status;
    if (record >= writer->options.definition->record_count)
        return step_writer_refuse_record(writer, record);
    if (writer->dictionaries[record].rows.record_count > 0)
        return step_writer_keep(writer, STEP_STATUS_INVALID,
                                "a dictionary was resumed after entries were defined");
    writer->dictionaries[record].written_count = count;
    return STEP_STATUS_OK;
}
