/* SPDX-License-Identifier: Apache-2.0 */
/* Exports a trace to CTF: the metadata, the dictionaries, then each stream, block by block.  One
 * file is open at a time, and memory is limited to a block and a packet. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "converter/containers/no_memory.h"
#include "converter/files/sampled_trace.h"
#include "converter/files/standard_input.h"
#include "converter/formats/ctf/ctf_metadata.h"
#include "converter/output/byte_output.h"
#include "converter/output/output_directory.h"
#include "converter/output/output_file.h"
#include "converter/records/record_dump.h"
#include "converter/records/record_values.h"
#include "format/core/input_file.h"

/* ---- packets, built in memory, because their headers contain their length ---- */

struct ctf_stream {
    struct output_file file;
    enum ctf_stream_class class;
    bool has_clock;
    uint64_t number;         /* number of the trace's stream */
    struct byte_output body; /* events of the packet */
    struct byte_output head; /* of a packet */
    uint64_t begin, last;    /* time of the packet's first event, and the latest time of all */
    uint64_t event_count;    /* in the packet */
    uint64_t packet_count;   /* packets written */
    uint64_t lost_count;     /* known lost events */
    uint64_t reported_count; /* of these, reported by earlier packets */
};

#define PACKET_MAGIC 0xC1FC1FC1u

/* Limit at which a packet is written. */
#define PACKET_BYTES ((size_t) 1 << 20)

struct exporting {
    struct step_reader *reader;
    struct seekable_path seekable;
    struct record_filter *filter;
    struct output_directory directory;
    struct ctf_clock clock;
    struct ctf_types types;
    struct record_values json; /* of fields encoded as text */
    char *text;                /* memory of `json` */
    size_t text_length;
    struct ctf_stream stream;
    size_t *time_slots; /* by record: slot of the time, or STEP_NO_PROPERTY_SLOT */
    size_t *blocks;     /* ordered by stream */
};

/* ---- values, as described by the metadata of ctf_metadata.c ---- */

static void put_record_fields(struct exporting *exporting, uint32_t record, const uint64_t *slots);

/* The length of an array or of data: longer ones do not fit. */
static void put_length(struct byte_output *out, size_t length)
{
    bytes_put_little(out, length, 4);
    out->failed = out->failed || length > UINT32_MAX;
}

/* A zero ends the text; a zero inside is encoded as C0 80, as in class files. */
static void ctf_export_put_text(struct byte_output *out, const uint8_t *text, size_t length)
{
    for (const uint8_t *zero; length > 0 && (zero = memchr(text, 0, length)) != NULL;
         text = zero + 1) {
        bytes_put(out, text, (size_t) (zero - text));
        bytes_put(out, "\xc0\x80", 2);
        length -= (size_t) (zero - text) + 1;
    }
    bytes_put(out, text, length);
    bytes_put_little(out, 0, 1);
}

static void ctf_export_put_json(struct exporting *exporting, const struct step_field *field,
                                const uint64_t *slots)
{
    struct byte_output *out = &exporting->stream.body;
    rewind(exporting->json.file);
    record_values_put(&exporting->json, field, 0, slots, false);
    if (fflush(exporting->json.file) == 0)
        ctf_export_put_text(out, (const uint8_t *) exporting->text, exporting->text_length);
    else
        out->failed = true;
}

static void ctf_export_put_value(struct exporting *exporting, const struct step_field *field,
                                 uint32_t depth, const uint64_t *slots)
{
    const struct step_definition *definition = exporting->types.definition;
    struct byte_output *out = &exporting->stream.body;
    if (depth < field->array_depth) {
        const struct step_array *array = step_slot_array(*slots);
        bool in_place = depth + 1 == field->array_depth && ctf_holds_record(field);
        size_t step = in_place ? step_record_slot_count(definition, field->record) : 1;
        put_length(out, array->count);
        for (size_t i = 0; i < array->count && !out->failed; i++)
            ctf_export_put_value(exporting, field, depth + 1, array->slots + i * step);
    } else if (field->kind == STEP_TYPE_INT || step_field_is_identifier(field)) {
        bytes_put_little(out, *slots, 8);
    } else if (step_field_is_variant(field)) {
        const struct step_variant *variant = step_slot_variant(*slots);
        bool has_value = variant->record < definition->record_count;
        bytes_put_little(out, has_value ? variant->record : definition->record_count, 4);
        if (has_value)
            put_record_fields(exporting, variant->record, variant->slots);
    } else if (field->kind == STEP_TYPE_RECORD) {
        put_record_fields(exporting, field->record, slots);
    } else {
        const struct step_bytes *bytes = step_slot_bytes(*slots);
        if (field->kind == STEP_TYPE_STRING) {
            ctf_export_put_text(out, bytes->data, bytes->length);
        } else {
            put_length(out, bytes->length);
            bytes_put(out, bytes->data, bytes->length);
        }
    }
}

static void put_record_fields(struct exporting *exporting, uint32_t record, const uint64_t *slots)
{
    const struct step_definition *definition = exporting->types.definition;
    const struct step_record *type = &definition->records[record];
    for (size_t i = 0; i < type->field_count; i++) {
        const struct step_field *field = &type->fields[i];
        if (exporting->types.as_text[record][i] != 0)
            ctf_export_put_json(exporting, field, slots);
        else
            ctf_export_put_value(exporting, field, 0, slots);
        slots +=
            step_field_is_nested(field) ? step_record_slot_count(definition, field->record) : 1;
    }
}

/* ---- packets ---- */

/* Begins an event, whose fields are then appended to `stream->body`.  A time before the previous
 * one is replaced by it. */
static void ctf_export_begin_event(struct ctf_stream *stream, uint32_t id, uint64_t time)
{
    if (time > stream->last)
        stream->last = time;
    if (stream->event_count++ == 0)
        stream->begin = stream->last;
    bytes_put_little(&stream->body, id, 4);
    if (stream->has_clock)
        bytes_put_little(&stream->body, stream->last, 8);
}

/* Writes the header and the context of packets as defined in ctf_metadata.c. */
static void make_head(struct ctf_stream *stream)
{
    struct byte_output *head = &stream->head;
    size_t length = (stream->has_clock ? 2 * 8 : 0) + 4 + 4 + 8 + 4 * 8;
    uint64_t bits = (length + stream->body.bytes.length) * 8;
    bytes_clear(head);
    bytes_put_little(head, PACKET_MAGIC, 4);
    bytes_put_little(head, stream->class, 4);
    bytes_put_little(head, stream->number, 8);
    if (stream->has_clock) {
        bytes_put_little(head, stream->event_count > 0 ? stream->begin : stream->last, 8);
        bytes_put_little(head, stream->last, 8);
    }
    bytes_put_little(head, bits, 8);
    bytes_put_little(head, bits, 8);
    bytes_put_little(head, stream->packet_count, 8);
    bytes_put_little(head, stream->lost_count, 8);
}

static enum step_status ctf_export_write_bytes(struct ctf_stream *stream,
                                               const struct byte_output *bytes,
                                               struct step_error *error)
{
    return bytes->failed
               ? no_memory(error)
               : output_file_write(&stream->file, bytes->bytes.data, bytes->bytes.length, error);
}

/* Writes the packet if it has `at_least` bytes, and events or new losses. */
static enum step_status put_packet(struct ctf_stream *stream, size_t at_least,
                                   struct step_error *error)
{
    bool is_needed = stream->event_count > 0 || stream->lost_count > stream->reported_count;
    if (!stream->body.failed && (!is_needed || stream->body.bytes.length < at_least))
        return STEP_STATUS_OK;
    make_head(stream);
    enum step_status status = ctf_export_write_bytes(stream, &stream->head, error);
    if (status == STEP_STATUS_OK)
        status = ctf_export_write_bytes(stream, &stream->body, error);
    stream->reported_count = stream->lost_count;
    bytes_clear(&stream->body);
    stream->event_count = 0;
    stream->packet_count++;
    return status;
}

/* Writes the last packet and completes the file. */
static enum step_status close_stream(struct ctf_stream *stream, struct step_error *error)
{
    enum step_status status = put_packet(stream, 0, error);
    return status == STEP_STATUS_OK ? output_file_commit(&stream->file, error) : status;
}

/* ---- files ---- */

static bool begins_as_ours(int directory, const char *name)
{
    char head[sizeof CTF_METADATA_HEAD] = "";
    int file = input_file_open_in(directory, name, NULL);
    ssize_t got = file >= 0 ? read(file, head, sizeof head - 1) : -1;
    if (file >= 0)
        close(file);
    return got == (ssize_t) sizeof head - 1 && strcmp(head, CTF_METADATA_HEAD) == 0;
}

/* Recognises the files of an earlier export by its metadata. */
static bool ctf_export_is_own(int directory, const char *name)
{
    if (strcmp(name, "metadata") != 0 && strcmp(name, "dictionaries") != 0 &&
        strncmp(name, "stream-", 7) != 0)
        return false;
    return begins_as_ours(directory, "metadata");
}

static bool print_metadata(const void *user, FILE *out)
{
    const struct exporting *exporting = user;
    return ctf_metadata_put(out, &exporting->types, exporting->reader, &exporting->clock);
}

static enum step_status ctf_export_put_metadata(struct exporting *exporting,
                                                struct step_error *error)
{
    struct output_file file;
    const struct output_directory *directory = &exporting->directory;
    enum step_status status =
        output_file_open_in(&file, directory->descriptor, "metadata", directory->path, error);
    return status == STEP_STATUS_OK
               ? output_file_fill(&file, NULL, print_metadata, exporting, error)
               : status;
}

static enum step_status open_stream(struct exporting *exporting, const char *name,
                                    enum ctf_stream_class class, uint64_t number,
                                    struct step_error *error)
{
    struct ctf_stream *stream = &exporting->stream;
    *stream = (struct ctf_stream){.file = {.descriptor = -1, .spool = -1},
                                  .class = class,
                                  .has_clock = exporting->clock.is_there,
                                  .number = number,
                                  .body = stream->body,
                                  .head = stream->head};
    return output_file_open_in(&stream->file, exporting->directory.descriptor, name,
                               exporting->directory.path, error);
}

/* ---- events ---- */

static uint64_t cycles_of(const struct ctf_clock *clock, uint64_t ticks)
{
    uint64_t cycles;
    bool is_too_late = __builtin_mul_overflow(ticks, clock->cycles_a_tick, &cycles);
    return is_too_late || cycles > clock->most ? clock->most : cycles;
}

static enum step_status ctf_export_put_fields(struct exporting *exporting, uint32_t record,
                                              const uint64_t *slots, struct step_error *error)
{
    put_record_fields(exporting, record, slots);
    return put_packet(&exporting->stream, PACKET_BYTES, error);
}

static enum step_status ctf_export_put_record(struct exporting *exporting,
                                              const struct step_record_view *view,
                                              struct step_error *error)
{
    size_t slot = exporting->time_slots[view->record];
    uint64_t ticks = slot != STEP_NO_PROPERTY_SLOT ? view->slots[slot] : 0;
    ctf_export_begin_event(&exporting->stream, view->record, cycles_of(&exporting->clock, ticks));
    return ctf_export_put_fields(exporting, view->record, view->slots, error);
}

/* Returns the first time in the trace.  Dictionaries have no time and are written with this one. */
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
        ctf_export_begin_event(&exporting->stream, record, time);
        bytes_put_little(&exporting->stream.body, id, 8);
        status = ctf_export_put_fields(exporting, record, slots, error);
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
    return status == STEP_STATUS_OK ? close_stream(&exporting->stream, error) : status;
}

/* A block that cannot be decoded counts as lost events. */
static enum step_status ctf_export_put_block(struct exporting *exporting, size_t number,
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
            status = ctf_export_put_record(exporting, &taken, error);
    return status == STEP_STATUS_OK ? put_packet(&exporting->stream, 0, error) : status;
}

/* Writes all blocks of the stream of the block at `*at`. */
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
        status = ctf_export_put_block(exporting, exporting->blocks[(*at)++], block, error);
    return status == STEP_STATUS_OK ? close_stream(&exporting->stream, error) : status;
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

/* ---- the export ---- */

static enum step_status ctf_export_prepare(struct exporting *exporting, struct step_error *error)
{
    const struct step_definition *definition = step_reader_borrow_definition(exporting->reader);
    ctf_clock_init(&exporting->clock, exporting->reader);
    exporting->time_slots = calloc(definition->record_count + 1, sizeof *exporting->time_slots);
    FILE *json = open_memstream(&exporting->text, &exporting->text_length);
    record_values_init(&exporting->json, exporting->reader, json);
    if (exporting->time_slots == NULL || json == NULL ||
        !ctf_types_init(&exporting->types, definition))
        return no_memory(error);
    for (uint32_t i = 0; i < definition->record_count; i++)
        exporting->time_slots[i] = step_record_find_property(definition, i, "time");
    return STEP_STATUS_OK;
}

static enum step_status write_trace(struct exporting *exporting, const char *output,
                                    struct step_error *error)
{
    enum step_status status =
        output_directory_open(&exporting->directory, output, ctf_export_is_own, error);
    if (status == STEP_STATUS_OK)
        status = ctf_export_put_metadata(exporting, error);
    if (status == STEP_STATUS_OK)
        status = put_dictionaries(exporting, error);
    if (status == STEP_STATUS_OK)
        status = put_streams(exporting, error);
    if (status == STEP_STATUS_OK)
        status = output_directory_commit(&exporting->directory, error);
    return status;
}

static void ctf_export_release(struct exporting *exporting)
{
    output_file_abort(&exporting->stream.file);
    bytes_reset(&exporting->stream.body);
    bytes_reset(&exporting->stream.head);
    output_directory_abort(&exporting->directory);
    if (exporting->json.file != NULL)
        fclose(exporting->json.file);
    free(exporting->text);
    ctf_types_reset(&exporting->types);
    free(exporting->time_slots);
    free(exporting->blocks);
    record_filter_destroy(exporting->filter);
}

static enum step_status write_ctf(const struct format_job *job)
{
    struct exporting exporting = {.stream = {.file = {.descriptor = -1, .spool = -1}}};
    struct step_error error = {.offset = STEP_NO_OFFSET};
    const struct record_selection selected = record_selection_of(job);
    enum step_status status = stepfile_open(job->input, NEEDS_ALL_OBJECTS, &exporting.reader,
                                            &exporting.seekable, &error);
    if (status == STEP_STATUS_OK)
        status = record_filter_create(exporting.reader, &selected, &exporting.filter, &error);
    if (status == STEP_STATUS_OK)
        status = ctf_export_prepare(&exporting, &error);
    if (status == STEP_STATUS_OK)
        status = write_trace(&exporting, job->output, &error);
    ctf_export_release(&exporting);
    return stepfile_close(exporting.reader, &exporting.seekable, job->input, status, &error);
}

static const struct format_options *const options_of[] = {&record_options, NULL};

const struct trace_format format_ctf = {
    .name = "ctf",
    .ending = ".ctf",
    .help = "CTF 1.8, a directory",
    .needs = FORMAT_NEEDS_RECORDS,
    .is_directory = true,
    .options = options_of,
    .write = write_ctf,
};
