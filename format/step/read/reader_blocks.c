/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader's blocks: registered when the trace is opened, loaded on demand.
 *
 * Blocks of properties, dictionaries and ranges are read at once, as everything else refers to
 * them, and they are small.  Data blocks are only listed, with what their headers and summaries
 * say.  What is wrong with a block is noted as damage and costs that block alone; only lack of
 * memory and a failure to read end the work (reader_blocks_is_damage()).
 *
 * A data block is decoded each time that somebody asks for it, and nothing of it is kept here: the
 * caller owns the result, and blocks do not depend on each other.  So memory does not grow with
 * the trace but for some 300 bytes a block (docs/formats/step.md).
 */
#include "steptrace/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/core/checksum.h"
#include "format/core/grow.h"
#include "format/step/read/reader_internal.h"

/* The source is asked first whether it has that many bytes, before memory is taken for them: the
 * length is that of a header, which may claim any.  The checksum is compared before anything is
 * decoded.  It stops accidents, but nobody who makes a file on purpose, so decoders check all the
 * same. */
enum step_status step_reader_payload(struct step_reader *reader,
                                     const struct step_byte_source *source, uint64_t offset,
                                     const struct step_block_header *header,
                                     struct step_payload *payload, struct step_error *error)
{
    uint64_t place = source->base + offset;
    enum step_status status =
        step_byte_source_read(source, offset + STEP_BLOCK_HEADER_BYTES, header->payload_bytes,
                              &reader->payload, &payload->bytes, error);
    if (status != STEP_STATUS_OK)
        return status;
    payload->header = header;
    payload->offset = place + STEP_BLOCK_HEADER_BYTES;
    payload->file = source->name;
    if (step_checksum(payload->bytes, (size_t) header->payload_bytes) != header->payload_checksum)
        return step_error_set(error, STEP_STATUS_CORRUPT, source->name, payload->offset,
                              "the block's checksum does not agree with its contents");
    return STEP_STATUS_OK;
}

/* The index has a copy of each header, which says where a block ends, of what it is and what its
 * checksum must be.  So if blocks were found by the index, a block's own header may be damaged
 * while its contents are intact, and they are read.  It is noted all the same: a reader without the
 * index would lose the block, and the next damage may be to the index.  Returns true if damage was
 * noted. */
static bool note_header(struct step_reader *reader, const struct step_byte_source *source,
                        uint64_t offset, const struct step_block_header *header)
{
    const uint8_t *bytes;
    uint8_t expected[STEP_BLOCK_HEADER_BYTES];
    if (step_byte_source_read(source, offset, sizeof expected, &reader->head, &bytes, NULL) !=
        STEP_STATUS_OK)
        return false;
    step_block_header_pack(header, expected);
    if (memcmp(bytes, expected, sizeof expected) == 0)
        return false;
    step_reader_note(reader, source->base + offset, sizeof expected,
                     "the block's header is damaged; its contents are read all the same");
    return true;
}

/* Returns true if only this block is lost, and the reader can continue.  The other failures are of
 * this process or this machine: with them the result would depend on where the file is read. */
static bool reader_blocks_is_damage(enum step_status status)
{
    return status == STEP_STATUS_CORRUPT || status == STEP_STATUS_CUT ||
           status == STEP_STATUS_UNSUPPORTED || status == STEP_STATUS_LIMIT;
}

/* An error goes to `local` first: as damage it becomes a note and the caller's `error` stays as it
 * is.  Definitions and indexes are not used here; only their checksums are compared. */
static enum step_status load_now(struct step_reader *reader, const struct step_byte_source *source,
                                 uint64_t offset, const struct step_block_header *header,
                                 struct step_error *error)
{
    struct step_error local = {.offset = source->base + offset};
    struct step_payload payload;
    note_header(reader, source, offset, header);
    enum step_status status = step_reader_payload(reader, source, offset, header, &payload, &local);
    if (status == STEP_STATUS_OK && header->kind == STEP_BLOCK_PROPERTY)
        status = step_reader_properties(reader, &payload, &local);
    else if (status == STEP_STATUS_OK && header->kind == STEP_BLOCK_DICTIONARY)
        status = step_dictionary_load(reader, &payload, &local);
    else if (status == STEP_STATUS_OK && header->kind == STEP_BLOCK_RANGES)
        status = step_reader_ranges(reader, source, &payload, &local);
    if (reader_blocks_is_damage(status))
        return step_reader_note(reader, local.offset,
                                STEP_BLOCK_HEADER_BYTES + header->payload_bytes, "%.140s",
                                local.message);
    if (status != STEP_STATUS_OK && error != NULL)
        *error = local;
    return status;
}

/* The counts of records by type are copied out of the summary, whose bytes are in a buffer that the
 * next block overwrites.  With them, a reader knows which blocks have wanted records, and how many
 * records a damaged block had, without decoding any. */
static enum step_status reader_blocks_add_entry(struct step_reader *reader,
                                                const struct step_byte_source *source,
                                                uint64_t offset,
                                                const struct step_block_header *header,
                                                const struct step_summary *summary)
{
    if (!STEP_MAKE_ROOM(reader->entries, reader->entry_capacity, reader->entry_count + 1))
        return STEP_STATUS_NO_MEMORY;
    struct step_record_count *counts =
        step_arena_take(&reader->counts, summary->count, sizeof *counts);
    if (counts == NULL)
        return STEP_STATUS_NO_MEMORY;
    step_summary_counts(summary, counts);
    struct step_block_entry *entry = &reader->entries[reader->entry_count++];
    *entry = (struct step_block_entry){
        .info = {.offset = source->base + offset,
                 .stored_bytes = STEP_BLOCK_HEADER_BYTES + header->payload_bytes,
                 .stream = header->stream,
                 .first_record = header->first_record,
                 .record_count = header->record_count,
                 .time_min = header->time_min,
                 .time_max = header->time_max,
                 .thread_min = header->thread_min,
                 .thread_max = header->thread_max,
                 .counts = counts,
                 .type_count = (size_t) summary->count},
        .header = *header,
        .source = source,
        .offset = offset,
    };
    return STEP_STATUS_OK;
}

enum step_status step_reader_visit(struct step_reader *reader,
                                   const struct step_byte_source *source, uint64_t offset,
                                   const struct step_block_header *header, const uint8_t *summary,
                                   struct step_error *error)
{
    const char *fault;
    struct step_summary parsed;
    enum step_status status = STEP_STATUS_OK;
    switch (header->kind) {
    case STEP_BLOCK_DEFINITION: /* already loaded; check that it is intact */
    case STEP_BLOCK_PROPERTY:
    case STEP_BLOCK_DICTIONARY:
    case STEP_BLOCK_INDEX:
    case STEP_BLOCK_RANGES:
        return load_now(reader, source, offset, header, error);
    case STEP_BLOCK_DATA:
        if (!step_summary_parse(summary, header, reader->definition->record_count, &parsed, &fault))
            return step_reader_note(reader, source->base + offset,
                                    STEP_BLOCK_HEADER_BYTES + header->payload_bytes,
                                    "a block cannot be used: %s", fault);
        status = reader_blocks_add_entry(reader, source, offset, header, &parsed);
        break;
    default: /* kinds of later versions */
        break;
    }
    if (status != STEP_STATUS_OK)
        step_reader_no_memory(reader, error);
    return status;
}

/* A block may be loaded many times.  Its damage is noted once.  Records that were skipped for a
 * coding that this library does not know are noted as well, although the block is not damaged: what
 * a reader did not get must be visible. */
static void note_load(struct step_reader *reader, struct step_block_entry *entry,
                      const struct step_block_gap *gap, enum step_status status,
                      const struct step_error *error)
{
    if (entry->damage_noted)
        return;
    if (reader_blocks_is_damage(status)) {
        entry->damage_noted = true;
        step_reader_note(reader, error->offset, entry->info.stored_bytes, "%.140s", error->message);
    } else if (status == STEP_STATUS_OK && gap->records > 0) {
        entry->damage_noted = true;
        step_reader_note(reader, entry->info.offset, 0, "%" PRIu64 " records skipped: %.100s",
                         gap->records, gap->message);
    }
}

/* Explains a block that is refused because of other blocks: names the limit of their sum. */
static void explain_limit(const struct step_reader *reader, struct step_error *error)
{
    step_error_set(error, STEP_STATUS_LIMIT, reader->name, error->offset,
                   "blocks that overlap in time need more memory than the limit of %" PRIu64
                   " bytes; this one is skipped",
                   step_reader_room(reader));
}

/* The memory limit is what the reader has left beside its dictionaries and the caller's other
 * blocks.  A block that is refused for their sake would fit alone, and the message says so.
 *
 * The block is emptied before the file is read, so a caller that goes on after an error gets no
 * records of the block that it had before.  Damage to the header is noted at the first load only,
 * as `damage_noted` says; that a file was cut since it was opened is damage like any other. */
static enum step_status reader_blocks_load(struct step_reader *reader, size_t i,
                                           const struct step_block_request *request, uint64_t held,
                                           struct step_block **block, struct step_error *error)
{
    if (i >= reader->entry_count)
        return step_error_set(error, STEP_STATUS_INVALID, reader->name, STEP_NO_OFFSET,
                              "the trace has no block %zu", i);
    if (*block == NULL)
        *block = calloc(1, sizeof **block);
    if (*block == NULL)
        return step_reader_no_memory(reader, error);
    (*block)->record_count = 0;
    (*block)->at = 0;
    struct step_block_entry *entry = &reader->entries[i];
    struct step_error local = {.offset = entry->info.offset};
    struct step_payload payload;
    struct step_block_gap gap = {0};
    if (!entry->damage_noted)
        entry->damage_noted = note_header(reader, entry->source, entry->offset, &entry->header);
    enum step_status status =
        step_reader_payload(reader, entry->source, entry->offset, &entry->header, &payload, &local);
    uint64_t room = step_reader_room(reader);
    uint64_t left = room > held ? room - held : 0;
    uint64_t most = left < STEP_MAX_BLOCK_MEMORY ? left : STEP_MAX_BLOCK_MEMORY;
    if (status == STEP_STATUS_OK)
        status = step_block_decode(&reader->blocks, &payload, request, most, *block, &gap, &local);
    if (status == STEP_STATUS_LIMIT && held > 0 && most == left)
        explain_limit(reader, &local);
    note_load(reader, entry, &gap, status, &local);
    if (status == STEP_STATUS_CUT) /* the file shrank since it was opened */
        status = local.status = STEP_STATUS_CORRUPT;
    if (status != STEP_STATUS_OK && error != NULL)
        *error = local;
    return status;
}

enum step_status step_reader_load(struct step_reader *reader, size_t i, const uint8_t *wanted,
                                  struct step_block **block, struct step_error *error)
{
    return step_reader_load_beside(reader, i, wanted, 0, block, error);
}

enum step_status step_reader_load_beside(struct step_reader *reader, size_t i,
                                         const uint8_t *wanted, uint64_t held,
                                         struct step_block **block, struct step_error *error)
{
    return reader_blocks_load(reader, i, &(struct step_block_request){.wanted = wanted}, held,
                              block, error);
}

enum step_status step_reader_load_fields(struct step_reader *reader, size_t i,
                                         const uint8_t *const *fields, struct step_block **block,
                                         struct step_error *error)
{
    return reader_blocks_load(reader, i, &(struct step_block_request){.fields = fields}, 0, block,
                              error);
}
