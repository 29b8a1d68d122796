/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens a trace file; records that a killed process left in the live file beside it become further
 * blocks.
 *
 * Recovery writes a trace of its own, in memory, with a writer that is told where the file ends
 * (resume_streams(), resume_dictionaries()). Its blocks are then walked like those of the file.  So
 * a recovered trace is read by the same code as any other, and numbers of records and entries go on
 * where the file stops.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/core/step_no_memory.h"
#include "format/io/memory_output.h"
#include "format/live/live_file.h"
#include "format/live/live_records.h"
#include "format/step/read/reader_internal.h"
#include "steptrace/live.h"

/* Attempts at a trace whose process ends meanwhile. */
#define MOST_LOOKS 4

static int compare_streams(const void *left, const void *right)
{
    const struct step_block_info *a = &(*(struct step_block_entry *const *) left)->info;
    const struct step_block_info *b = &(*(struct step_block_entry *const *) right)->info;
    return (a->stream > b->stream) - (a->stream < b->stream);
}

/* Resumes the writer's streams at the number of records that the file has.  Damage may have taken
 * blocks out of the middle: the last block of a stream counts, not the sum of those that are there.
 * Otherwise recovery would write records again that the file has. */
static enum step_status resume_streams(const struct step_reader *reader, struct step_writer *writer)
{
    struct step_block_entry **sorted =
        malloc((reader->entry_count + 1) * sizeof(struct step_block_entry *));
    if (sorted == NULL)
        return STEP_STATUS_NO_MEMORY;
    for (size_t i = 0; i < reader->entry_count; i++)
        sorted[i] = &reader->entries[i];
    qsort(sorted, reader->entry_count, sizeof *sorted, compare_streams);
    enum step_status status = STEP_STATUS_OK;
    uint64_t end = 0;
    for (size_t i = 0; i < reader->entry_count && status == STEP_STATUS_OK; i++) {
        const struct step_block_info *info = &sorted[i]->info;
        if (info->first_record <= UINT64_MAX - info->record_count &&
            info->first_record + info->record_count > end)
            end = info->first_record + info->record_count;
        if (i + 1 < reader->entry_count && sorted[i + 1]->info.stream == info->stream)
            continue;
        status = step_writer_resume_stream(writer, info->stream, end);
        end = 0;
    }
    free(sorted);
    return status;
}

static enum step_status resume_dictionaries(const struct step_reader *reader,
                                            struct step_writer *writer)
{
    enum step_status status = STEP_STATUS_OK;
    uint32_t record_count = (uint32_t) reader->definition->record_count;
    for (uint32_t i = 0; i < record_count && status == STEP_STATUS_OK; i++)
        status = step_writer_resume_dictionary(writer, i, step_reader_dictionary_count(reader, i));
    return status;
}

/* Writes the records of the live file as a trace to reader->live_bytes. */
static enum step_status write_live(struct step_reader *reader, const char *path,
                                   struct step_live_report *report, struct step_error *error)
{
    struct step_writer_options options;
    struct step_writer *writer;
    step_writer_options_init(&options);
    options.definition = reader->definition;
    options.output = step_memory_output(&reader->live_bytes);
    options.compression = STEP_COMPRESSION_NONE;
    enum step_status status = step_writer_create(&options, &writer, error);
    if (status != STEP_STATUS_OK)
        return status;
    status = resume_streams(reader, writer);
    if (status == STEP_STATUS_OK)
        status = resume_dictionaries(reader, writer);
    if (status == STEP_STATUS_OK)
        status = step_live_recover(path, writer, report, error);
    if (status == STEP_STATUS_OK)
        status = step_writer_flush(writer);
    step_writer_destroy(writer);
    return status;
}

/* Adds the resulting blocks after the one of the definition. */
static enum step_status take_live(struct step_reader *reader, struct step_error *error)
{
    struct step_block_header header;
    reader->live = (struct step_byte_source){.file = -1,
                                             .memory = reader->live_bytes.data,
                                             .size = reader->live_bytes.length,
                                             .base = reader->file.size,
                                             .name = reader->name};
    if (reader->live.size < STEP_FILE_HEADER_BYTES + STEP_BLOCK_HEADER_BYTES ||
        !step_block_header_unpack(reader->live.memory + STEP_FILE_HEADER_BYTES, &header))
        return STEP_STATUS_OK;
    size_t before = reader->entry_count;
    enum step_status status = step_reader_walk(
        reader, &reader->live,
        STEP_FILE_HEADER_BYTES + STEP_BLOCK_HEADER_BYTES + header.payload_bytes, error);
    for (size_t i = before; i < reader->entry_count; i++)
        reader->recovered += reader->entries[i].info.record_count;
    if (status == STEP_STATUS_OK)
        step_dictionary_finish(reader);
    return status;
}

/* Returns the name of the live file, to be freed; NULL if out of memory. */
static char *live_path_of(const struct step_reader *reader)
{
    size_t length = strlen(reader->name) + sizeof STEP_LIVE_SUFFIX;
    char *path = malloc(length);
    if (path != NULL)
        snprintf(path, length, "%s%s", reader->name, STEP_LIVE_SUFFIX);
    return path;
}

/* Returns true if the process of the live file still runs. */
static bool is_written(const struct step_reader *reader)
{
    char *path = live_path_of(reader);
    bool is = path != NULL && step_live_is_written(path);
    free(path);
    return is;
}

/* Accepts plain characters only, because the live file is not trusted. */
static bool reader_recovery_is_text(const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++)
        if (text[i] < ' ' || text[i] > '~')
            return false;
    return length > 0;
}

/* Returns true if the trace was not closed, but states that the live file has all that is missing:
 * the JVM ended before its trace was written, and left the rest on purpose. */
static bool is_completed(const struct step_reader *reader)
{
    const char *rest = step_reader_property(reader, STEP_LIVE_REST);
    return rest != NULL && strcmp(rest, "yes") == 0 && reader->damage_count == 0;
}

static enum step_status reader_recovery_put_number(struct step_reader *reader, const char *key,
                                                   uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    return step_reader_set_property(reader, strdup(key), strdup(text));
}

/* Notes damage if the last part of a ring in memory was not copied because the copier had ended,
 * too. */
static enum step_status note_unfinished_copy(struct step_reader *reader, const char *path)
{
    struct live_file file = {.path = path, .descriptor = -1};
    enum step_status status = live_file_open(&file);
    const struct step_live_header *header = &file.header;
    bool is_unfinished = status == STEP_STATUS_OK && header->copy_state != STEP_LIVE_COPY_NONE &&
                         header->copy_state != STEP_LIVE_COPY_WHOLE && header->resolution_ns != 0;
    live_file_close(&file);
    if (!is_unfinished)
        return STEP_STATUS_OK;
    const struct step_live_header clock = live_clock(header);
    uint64_t ns = live_stamp_ns(&clock, header->copied_stamp);
    status = reader_recovery_put_number(reader, STEP_LIVE_MISSING_AFTER, ns);
    if (status == STEP_STATUS_OK)
        status = reader_recovery_put_number(reader, STEP_LIVE_MISSING_EVENTS, header->copied_most);
    if (status != STEP_STATUS_OK)
        return status;
    return step_reader_note(
        reader, reader->file.size, 0,
        "the process that writes the trace was killed, with its program or before it: "
        "events after %" PRIu64 " ns may be missing; 100 ms before had at most "
        "%" PRIu64,
        ns, header->copied_most);
}

/* Notes damage for a native program that continued after its buffers were no longer emptied. */
static enum step_status note_lost(struct step_reader *reader, const struct step_live_report *report)
{
    if (!report->is_lost)
        return STEP_STATUS_OK;
    enum step_status status =
        reader_recovery_put_number(reader, STEP_LIVE_MISSING_AFTER, report->lost_ns);
    return status == STEP_STATUS_OK
               ? step_reader_set_property(reader, strdup("end"), strdup("failed"))
               : status;
}

/* Adds the records of the live file, if its process has ended. */
static enum step_status recover(struct step_reader *reader, struct step_error *error)
{
    char *path = live_path_of(reader);
    if (path == NULL)
        return step_no_memory(error, reader->name);
    enum step_status status = STEP_STATUS_OK;
    if (access(path, F_OK) == 0) {
        struct step_live_report report = {0};
        struct step_error local = {.offset = STEP_NO_OFFSET};
        status = write_live(reader, path, &report, &local);
        if (status == STEP_STATUS_OK && reader_recovery_is_text(report.internals))
            status =
                step_reader_set_property(reader, strdup("internals"), strdup(report.internals));
        if (status == STEP_STATUS_OK) {
            status = take_live(reader, error);
            if (status == STEP_STATUS_OK)
                status = note_unfinished_copy(reader, path);
            if (status == STEP_STATUS_OK)
                status = note_lost(reader, &report);
            if (status == STEP_STATUS_OK && report.dropped > 0)
                status = reader_recovery_put_number(reader, "dropped", report.dropped);
            reader->completed = status == STEP_STATUS_OK && is_completed(reader);
        } else if (status == STEP_STATUS_BUSY || status == STEP_STATUS_NOT_FOUND) {
            reader->running = true; /* or it has just ended: the caller checks again */
            status = STEP_STATUS_OK;
        } else
            status = step_reader_note(reader, reader->file.size, 0, STEP_LIVE_UNREAD ": %.100s",
                                      local.message);
    }
    free(path);
    return status;
}

/* Blocks that were being written when the file was walked are not damage. */
static void forget_the_rest(struct step_reader *reader)
{
    while (reader->damage_count > 0 &&
           reader->damage[reader->damage_count - 1].offset >= reader->walked_bytes)
        reader->damage_count--;
}

/*
 * Sets `*ended` if the process was writing when this began and has stopped, so that the file has
 * its end now.
 *
 * The order matters.  Whether the process writes is asked before the file is read and again
 * afterwards.  If it has ended in between, the file may have been read before its last blocks were
 * there, and the live file removed before it could be looked at: only a second look shows the whole
 * trace.
 */
static enum step_status open_once(const char *path, struct step_bytes given,
                                  struct step_reader **out, bool *ended, struct step_error *error)
{
    *ended = false;
    enum step_status status = step_reader_create(path, out, error);
    if (status != STEP_STATUS_OK)
        return status;
    struct step_reader *reader = *out;
    reader->given = given;
    bool was_written = is_written(reader);
    status = step_byte_source_open(reader->name, &reader->file, error);
    if (status == STEP_STATUS_OK)
        status = step_reader_read_file(reader, error);
    if (status == STEP_STATUS_OK && !reader->whole)
        status = recover(reader, error);
    reader->given = (struct step_bytes){0};
    *ended = !reader->whole && (was_written || reader->running) && !is_written(reader);
    if (reader->running && !*ended)
        forget_the_rest(reader);
    if (status != STEP_STATUS_OK) {
        step_reader_destroy(reader);
        *out = NULL;
    }
    return status;
}

/* Looks again as long as a process ended meanwhile, which can happen again only if another begins
 * to write; hence the limit. */
enum step_status step_reader_open_defined(const char *path, struct step_bytes definition,
                                          struct step_reader **out, struct step_error *error)
{
    bool ended = true;
    enum step_status status = STEP_STATUS_OK;
    *out = NULL;
    for (int look = 0; ended && look < MOST_LOOKS; look++) {
        step_reader_destroy(*out);
        status = open_once(path, definition, out, &ended, error);
    }
    return status;
}

enum step_status step_reader_open(const char *path, struct step_reader **out,
                                  struct step_error *error)
{
    return step_reader_open_defined(path, (struct step_bytes){0}, out, error);
}

/* Blocks are taken up to the first that is incomplete.  The tables of dictionaries are dropped,
 * since entries were added. */
enum step_status step_reader_refresh(struct step_reader *reader, bool *running,
                                     struct step_error *error)
{
    struct stat now;
    *running = false;
    if (reader->whole || !reader->running || reader->file.file < 0)
        return STEP_STATUS_OK;
    *running = is_written(reader); /* before reading the file's size: what it wrote until then is in
                                      the file */
    if (fstat(reader->file.file, &now) != 0)
        return step_error_set(error, STEP_STATUS_IO, reader->name, STEP_NO_OFFSET, "%s",
                              strerror(errno));
    if ((uint64_t) now.st_size <= reader->file.size && *running)
        return STEP_STATUS_OK;
    if ((uint64_t) now.st_size > reader->file.size)
        forget_the_rest(reader);
    reader->file.size = (uint64_t) now.st_size;
    enum step_status status = step_reader_walk_on(reader, error);
    step_dictionary_regrow(reader);
    reader->running = *running;
    return status;
}
