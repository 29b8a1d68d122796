/* SPDX-License-Identifier: Apache-2.0 */
/* The metadata, the dictionaries, then stream after stream, block by block: one file is open at a
 * time, and memory is that of a block and a packet. */
#include "converter/ctf/ctf_export.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "converter/base/no_memory.h"
#include "converter/ctf/ctf_metadata.h"
#include "converter/ctf/ctf_stream.h"
#include "converter/ctf/ctf_types.h"
#include "converter/ctf/ctf_values.h"
#include "converter/files/output_directory.h"
#include "converter/files/output_stream.h"
#include "converter/files/standard_input.h"
#include "converter/open/input.h"
#include "converter/records/record_dump.h"

/* Packets are not much longer. */
#define PACKET_BYTES ((size_t) 1 << 20)
enum { PATH_BYTES = 4096 };

struct exporting {
    struct step_reader *reader;
    struct seekable_path seekable;
    struct record_filter *filter;
    struct output_directory directory;
    struct ctf_clock clock;
    struct ctf_types types;
    struct ctf_values values;
    struct ctf_stream stream;
    size_t *time_slots; /* by record: of the time, or STEP_NO_PROPERTY_SLOT */
    size_t *blocks;     /* in order of their streams */
    char path[PATH_BYTES];
};

bool ctf_is_name(const char *name)
{
    return strcmp(name, "ctf") == 0;
}

bool ctf_is_ending(const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    return length > 4 && strncmp(path + length - 4, ".ctf", 4) == 0;
}

void ctf_help(char *out, size_t out_size)
{
    snprintf(out, out_size, "%s",
             "  .ctf       CTF 1.8, a directory, for babeltrace2              (out)\n");
}

/* ---- files ---- */

static bool begins_as_ours(int directory, const char *name)
{
    char head[sizeof CTF_METADATA_HEAD] = "";
    int file = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    ssize_t got = file >= 0 ? read(file, head, sizeof head - 1) : -1;
    if (file >= 0)
        close(file);
    return got == (ssize_t) sizeof head - 1 && strcmp(head, CTF_METADATA_HEAD) == 0;
}

/* The files of an earlier export, which has its metadata. */
static bool is_own(int directory, const char *name)
{
    if (strcmp(name, "metadata") != 0 && strcmp(name, "dictionaries") != 0 &&
        strncmp(name, "stream-", 7) != 0)
        return false;
    return begins_as_ours(directory, "metadata");
}

/* The path lives until the next is made. */
static enum step_status make_path(struct exporting *exporting, const char *name,
                                  struct step_error *error)
{
    int length =
        snprintf(exporting->path, PATH_BYTES, "%s/%s", exporting->directory.temporary, name);
    return length < PATH_BYTES ? STEP_STATUS_OK
                               : step_error_set(error, STEP_STATUS_IO, name, STEP_NO_OFFSET,
                                                "the directory's name is too long");
}

static enum step_status put_metadata(struct exporting *exporting, struct step_error *error)
{
    struct output_file file;
    struct output_stream stream;
    enum step_status status = make_path(exporting, "metadata", error);
    if (status == STEP_STATUS_OK)
        status = output_file_open(&file, exporting->path, error);
    if (status != STEP_STATUS_OK)
        return status;
    const struct step_output to = output_file_as_output(&file);
    bool ok = output_stream_open(&stream, &to);
    ok = ok &&
         ctf_metadata_put(stream.file, &exporting->types, exporting->reader, &exporting->clock);
    status = ok ? output_stream_close(&stream, error) : no_memory(error);
    output_stream_reset(&stream);
    if (status == STEP_STATUS_OK)
        status = output_file_commit(&file, error);
    output_file_abort(&file);
    return status;
}

static enum step_status open_stream(struct exporting *exporting, const char *name,
                                    enum ctf_stream_class class, uint64_t number,
                                    struct step_error *error)
{
    enum step_status status = make_path(exporting, name, error);
    return status == STEP_STATUS_OK ? ctf_stream_open(&exporting->stream, exporting->path, class,
                                                      number, exporting->clock.is_there, error)
                                    : status;
}

/* ---- events ---- */

static uint64_t cycles_of(const struct ctf_clock *clock, uint64_t ticks)
{
    uint64_t cycles;
    bool is_too_late = __builtin_mul_overflow(ticks, clock->cycles_a_tick, &cycles);
    return is_too_late || cycles > clock->most ? clock->most : cycles;
}

static enum step_status put_fields(struct exporting *exporting, uint32_t record,
                                   const uint64_t *slots, struct step_error *error)
{
    struct ctf_stream *stream = &exporting->stream;
    if (!ctf_values_put(&exporting->values, record, slots, &stream->body))
        return no_memory(error);
    return ctf_stream_packet(stream, PACKET_BYTES, error);
}

static enum step_status put_record(struct exporting *exporting, const struct step_record_view *view,
                                   struct step_error *error)
{
    size_t slot = exporting->time_slots[view->record];
    uint64_t ticks = slot != STEP_NO_PROPERTY_SLOT ? view->slots[slot] : 0;
    if (!ctf_stream_event(&exporting->stream, view->record, cycles_of(&exporting->clock, ticks)))
        return no_memory(error);
    return put_fields(exporting, view->record, view->slots, error);
}

/* The first time that there is: dictionaries have none, and stand before all else. */
static uint64_t first_time(const struct exporting *exporting)
{
    size_t count = step_reader_block_count(exporting->reader);
    uint64_t first = count > 0 ? UINT64_MAX : 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t least = step_reader_block_info(exporting->reader, i)->time_min;
        first = least < first ? least : first;
    }
    return cycles_of(&exporting->clock, first);
}

static enum step_status put_dictionary(struct exporting *exporting, uint32_t record, uint64_t time,
                                       struct step_error *error)
{
    const struct step_reader *reader = exporting->reader;
    enum step_status status = STEP_STATUS_OK;
    for (uint64_t id = 0;
         status == STEP_STATUS_OK && (id = step_reader_dictionary_next(reader, record, id)) != 0;) {
        const uint64_t *slots = step_reader_dictionary_entry(reader, record, id);
        if (slots == NULL)
            continue;
        if (!ctf_stream_event(&exporting->stream, record, time) ||
            !ctf_put_number(&exporting->stream.body, id, 8))
            return no_memory(error);
        status = put_fields(exporting, record, slots, error);
    }
    return status;
}

static enum step_status put_dictionaries(struct exporting *exporting, struct step_error *error)
{
    uint64_t time = first_time(exporting);
    enum step_status status =
        open_stream(exporting, "dictionaries", CTF_STREAM_OF_DICTIONARIES, 0, error);
    for (uint32_t i = 0; status == STEP_STATUS_OK && i < exporting->types.definition->record_count;
         i++)
        status = put_dictionary(exporting, i, time, error);
    return status == STEP_STATUS_OK ? ctf_stream_close(&exporting->stream, error) : status;
}

/* A block that cannot be decoded is lost; how many records it had is known. */
static enum step_status put_block(struct exporting *exporting, size_t number,
                                  struct step_block **block, struct step_error *error)
{
    struct step_selection *selection = record_filter_selection(exporting->filter);
    struct step_record_view view, taken;
    enum step_status status =
        step_reader_load(exporting->reader, number, step_selection_wanted(selection), block, error);
    if (status != STEP_STATUS_OK && status != STEP_STATUS_NO_MEMORY && status != STEP_STATUS_IO) {
        exporting->stream.lost_count +=
            step_reader_block_info(exporting->reader, number)->record_count;
        return STEP_STATUS_OK;
    }
    while (status == STEP_STATUS_OK && step_block_next(*block, &view) == STEP_STATUS_OK)
        if (step_selection_view(selection, &view, &taken) &&
            record_filter_takes(exporting->filter, &taken))
            status = put_record(exporting, &taken, error);
    return status == STEP_STATUS_OK ? ctf_stream_packet(&exporting->stream, 0, error) : status;
}

/* All blocks of the stream that the block at `*at` is of. */
static enum step_status put_stream(struct exporting *exporting, size_t *at,
                                   struct step_block **block, struct step_error *error)
{
    const struct step_reader *reader = exporting->reader;
    uint64_t number = step_reader_block_info(reader, exporting->blocks[*at])->stream;
    char name[40];
    snprintf(name, sizeof name, "stream-%" PRIu64, number);
    enum step_status status = open_stream(exporting, name, CTF_STREAM_OF_RECORDS, number, error);
    while (status == STEP_STATUS_OK && *at < step_reader_block_count(reader) &&
           step_reader_block_info(reader, exporting->blocks[*at])->stream == number)
        status = put_block(exporting, exporting->blocks[(*at)++], block, error);
    return status == STEP_STATUS_OK ? ctf_stream_close(&exporting->stream, error) : status;
}

static enum step_status put_streams(struct exporting *exporting, struct step_error *error)
{
    struct step_block *block = NULL;
    size_t at = 0, count = step_reader_block_count(exporting->reader);
    enum step_status status = STEP_STATUS_OK;
    exporting->blocks = calloc(count + 1, sizeof *exporting->blocks);
    if (exporting->blocks == NULL ||
        step_reader_sort_blocks(exporting->reader, exporting->blocks) != STEP_STATUS_OK)
        status = no_memory(error);
    while (status == STEP_STATUS_OK && at < count)
        status = put_stream(exporting, &at, &block, error);
    step_block_destroy(block);
    return status;
}

/* ---- all of it ---- */

static enum step_status prepare(struct exporting *exporting, struct step_error *error)
{
    const struct step_definition *definition = step_reader_borrow_definition(exporting->reader);
    ctf_clock_init(&exporting->clock, exporting->reader);
    exporting->time_slots = calloc(definition->record_count + 1, sizeof *exporting->time_slots);
    if (exporting->time_slots == NULL || !ctf_types_init(&exporting->types, definition) ||
        !ctf_values_init(&exporting->values, &exporting->types, exporting->reader))
        return no_memory(error);
    for (uint32_t i = 0; i < definition->record_count; i++)
        exporting->time_slots[i] = step_record_find_property(definition, i, "time");
    return STEP_STATUS_OK;
}

static enum step_status write_trace(struct exporting *exporting, const char *output,
                                    struct step_error *error)
{
    enum step_status status = output_directory_open(&exporting->directory, output, is_own, error);
    if (status == STEP_STATUS_OK)
        status = put_metadata(exporting, error);
    if (status == STEP_STATUS_OK)
        status = put_dictionaries(exporting, error);
    if (status == STEP_STATUS_OK)
        status = put_streams(exporting, error);
    if (status == STEP_STATUS_OK)
        status = output_directory_commit(&exporting->directory, error);
    return status;
}

static void release(struct exporting *exporting)
{
    ctf_stream_reset(&exporting->stream);
    output_directory_abort(&exporting->directory);
    ctf_values_reset(&exporting->values);
    ctf_types_reset(&exporting->types);
    free(exporting->time_slots);
    free(exporting->blocks);
    record_filter_destroy(exporting->filter);
    step_reader_destroy(exporting->reader);
    seekable_path_close(&exporting->seekable);
}

enum step_status ctf_export(const char *path, const char *output,
                            const struct record_selection *selected)
{
    struct exporting exporting = {.stream = {.file = {.descriptor = -1, .spool = -1}}};
    struct step_error error = {.offset = STEP_NO_OFFSET};
    enum step_status status = record_open(path, &exporting.reader, &exporting.seekable, &error);
    if (status == STEP_STATUS_OK)
        status = record_filter_create(exporting.reader, selected, &exporting.filter, &error);
    if (status == STEP_STATUS_OK)
        status = prepare(&exporting, &error);
    if (status == STEP_STATUS_OK)
        status = write_trace(&exporting, output, &error);
    if (status == STEP_STATUS_OK)
        status = report_reader_damage(exporting.reader, path);
    else
        report_error(&error);
    release(&exporting);
    return status;
}
