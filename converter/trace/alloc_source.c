/* SPDX-License-Identifier: Apache-2.0 */
/* Functions common to all sources of records. */
#include "converter/trace/alloc_source.h"

#include <inttypes.h>
#include <string.h>

#include "converter/trace/copy_loss.h"
#include "steptrace/budget.h"
#include "steptrace/show.h"

/* The comment in which a copy says what it lacks. */
static void alloc_source_note_loss(struct alloc_source *source, struct step_bytes comment)
{
    struct step_bytes loss = copy_loss_of_comment(comment);
    if (loss.data != NULL)
        step_show(loss, source->about.said_loss, sizeof source->about.said_loss);
}

/* Of what lives, all commands keep something.  A record can take no byte of a packed file, so that
 * some kilobytes are billions of objects: there may be so many, and so many for each byte. */
#define LIVE_LEAST (UINT64_C(16) << 20)
#define LIVE_PER_BYTE 256u

static bool lives_fit(struct alloc_source *source, enum hatf_tag tag)
{
    struct step_budget most = step_budget_of(LIVE_LEAST, LIVE_PER_BYTE, source->about.file_bytes);
    if (tag == HATF_ALLOC || tag == HATF_REALLOC_ALLOC)
        source->live_count++;
    else if ((tag == HATF_FREE || tag == HATF_REALLOC_FREE) && source->live_count > 0)
        source->live_count--;
    return source->about.file_bytes == 0 || source->live_count <= most.left;
}

/* Counts a record.  What it adds is not given on if a file of this size cannot have so much. */
static enum step_status count_record(struct alloc_source *source, const struct hatf_record *record)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    if (record->tag == HATF_COMMENT)
        alloc_source_note_loss(source, record->comment);
    if (!lives_fit(source, record->tag)) {
        step_error_set(&error, STEP_STATUS_CORRUPT, source->path, source->offset,
                       "%" PRIu64 " live allocations are more than a file of %" PRIu64
                       " bytes can have",
                       source->live_count, source->about.file_bytes);
        trace_stop_at_damage(&source->about, &error);
        return STEP_STATUS_END;
    }
    source->record_count++;
    source->number++;
    return STEP_STATUS_OK;
}

enum step_status alloc_source_next(struct alloc_source *source, struct hatf_record *record,
                                   struct step_error *error)
{
    struct step_error local = {.offset = STEP_NO_OFFSET};
    if (source->about.is_stopped)
        return STEP_STATUS_END;
    source->offset = STEP_NO_OFFSET;
    enum step_status status = source->operations->next(source, record, &local);
    if (status == STEP_STATUS_OK)
        return count_record(source, record);
    if (status == STEP_STATUS_CORRUPT || status == STEP_STATUS_CUT) {
        trace_stop_at_damage(&source->about, &local);
        return STEP_STATUS_END;
    }
    if (status != STEP_STATUS_END && error != NULL)
        *error = local;
    return status;
}

void alloc_source_destroy(struct alloc_source *source)
{
    if (source != NULL)
        source->operations->destroy(source);
}

#define COMMENT "HATF 1.0, written by steptrace; " ADDRESS_NUMBERS_TEXT

static bool says_so(const struct step_bytes *comment)
{
    const size_t length = sizeof ADDRESS_NUMBERS_TEXT - 1;
    return comment->length >= length &&
           memcmp(comment->data + comment->length - length, ADDRESS_NUMBERS_TEXT, length) == 0;
}

bool address_numbers_put(struct address_numbers *numbers, const struct hatf_record *record)
{
    if (record->tag == HATF_COMMENT && numbers->count == 0 && says_so(&record->comment))
        numbers->is_said = true;
    if (record->tag != HATF_ALLOC)
        return address_numbers_hold(numbers);
    if (numbers->count++ > 0 && record->address - numbers->last != 1)
        numbers->is_denied = true;
    numbers->last = record->address;
    return address_numbers_hold(numbers);
}

struct hatf_record address_numbers_comment(void)
{
    return (struct hatf_record){.tag = HATF_COMMENT,
                                .comment = {(const uint8_t *) COMMENT, sizeof COMMENT - 1}};
}
