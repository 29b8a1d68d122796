/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes pprof's profile.proto (docs/formats/pprof.md) as one message: allocated and in-use amounts
 * by stack, with each sample labelled with its class.  The parts of a message may be in any order,
 * and strings are numbered as they are written, so only numbers are kept in memory.
 */
#include <stdlib.h>
#include <string.h>

#include "converter/base/no_memory.h"
#include "converter/heap/heap_writer.h"
#include "format/core/grow.h"

enum profile_field {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_TIME_NS = 9,
    PROFILE_DURATION_NS = 10,
    PROFILE_PERIOD_TYPE = 11,
    PROFILE_PERIOD = 12,
    PROFILE_COMMENT = 13,
    PROFILE_DEFAULT_TYPE = 14
};

/* A message under construction. */
struct message {
    uint8_t *bytes;
    size_t length, capacity;
    bool failed; /* out of memory */
};

struct pprof_file {
    struct heap_writer base;
    struct heap_sites locations; /* places without duplicates: sites without parents */
    struct id_table functions;   /* uint8_t, by method: already written */
    struct id_table classes;     /* uint64_t, by class: string of its name; 0: not written yet */
    uint64_t string_count;
    struct message sample, packed, part;
    bool has_snapshot;
};

static struct pprof_file *of(struct heap_writer *writer)
{
    return (struct pprof_file *) writer;
}

static void put_byte(struct message *message, unsigned byte)
{
    if (message->length == message->capacity) {
        uint8_t *bytes =
            step_grown(message->bytes, &message->capacity, message->capacity + 1, sizeof *bytes);
        if (bytes == NULL) {
            message->failed = true;
            return;
        }
        message->bytes = bytes;
    }
    message->bytes[message->length++] = (uint8_t) byte;
}

static void put_varint(struct message *message, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        put_byte(message, 0x80 | (unsigned) (value & 0x7f));
    put_byte(message, (unsigned) value);
}

static void put_number(struct message *message, unsigned field, uint64_t value)
{
    put_varint(message, (uint64_t) field << 3);
    put_varint(message, value);
}

static void put_bytes(struct message *message, unsigned field, const void *bytes, size_t length)
{
    put_varint(message, (uint64_t) field << 3 | 2);
    put_varint(message, length);
    for (size_t i = 0; i < length; i++)
        put_byte(message, ((const uint8_t *) bytes)[i]);
}

/* Writes a field of the top-level message. */
static void write_field(struct pprof_file *file, enum profile_field field, const void *bytes,
                        size_t length)
{
    struct message head = {.bytes = NULL};
    put_varint(&head, (uint64_t) field << 3 | 2);
    put_varint(&head, length);
    fwrite(head.bytes, 1, head.length, file->base.stream.file);
    fwrite(bytes, 1, length, file->base.stream.file);
    file->sample.failed = file->sample.failed || head.failed;
    free(head.bytes);
}

static void write_number(struct pprof_file *file, enum profile_field field, uint64_t value)
{
    struct message message = {.bytes = NULL};
    put_number(&message, field, value);
    fwrite(message.bytes, 1, message.length, file->base.stream.file);
    file->sample.failed = file->sample.failed || message.failed;
    free(message.bytes);
}

static uint64_t write_string(struct pprof_file *file, const void *text, size_t length)
{
    write_field(file, PROFILE_STRING, text, length);
    return file->string_count++;
}

static uint64_t write_text(struct pprof_file *file, const char *text)
{
    return write_string(file, text, strlen(text));
}

static void write_value_type(struct pprof_file *file, enum profile_field field, uint64_t type,
                             uint64_t unit)
{
    file->part.length = 0;
    put_number(&file->part, 1, type);
    put_number(&file->part, 2, unit);
    write_field(file, field, file->part.bytes, file->part.length);
}

static void write_function(struct pprof_file *file, uint32_t method_id)
{
    char text[HEAP_SITE_TEXT];
    uint8_t *known = id_table_get(&file->functions, method_id);
    if (known == NULL || *known != 0) {
        file->sample.failed = file->sample.failed || known == NULL;
        return;
    }
    *known = 1;
    const struct trace_names *names = file->base.sites->names;
    const struct trace_method *method = trace_method_of(names, method_id);
    struct step_bytes class_name = trace_class_of(names, method->class_id)->name;
    int length = method->class_id != 0
                     ? snprintf(text, sizeof text, "%.*s.%.*s", (int) class_name.length,
                                (const char *) class_name.data, (int) method->name.length,
                                (const char *) method->name.data)
                     : snprintf(text, sizeof text, "%.*s", (int) method->name.length,
                                (const char *) method->name.data);
    uint64_t name =
        write_string(file, text, (size_t) length < sizeof text ? (size_t) length : sizeof text - 1);
    file->part.length = 0;
    put_number(&file->part, 1, (uint64_t) method_id + 1);
    put_number(&file->part, 2, name);
    put_number(&file->part, 3, name);
    write_field(file, PROFILE_FUNCTION, file->part.bytes, file->part.length);
}

/* Returns the location of a site, written at its first use, or 0 if memory runs out. */
static uint64_t location_of(struct pprof_file *file, uint32_t site)
{
    struct heap_site place = file->base.sites->items[site];
    struct message line = {.bytes = NULL};
    size_t before = file->locations.count;
    place.parent = 0;
    uint32_t location = heap_sites_put(&file->locations, &place);
    if (location < before)
        return location;
    write_function(file, place.method_id);
    put_number(&line, 1, (uint64_t) place.method_id + 1);
    put_number(&line, 2, place.line);
    file->part.length = 0;
    put_number(&file->part, 1, location);
    put_bytes(&file->part, 4, line.bytes, line.length);
    write_field(file, PROFILE_LOCATION, file->part.bytes, file->part.length);
    file->sample.failed = file->sample.failed || line.failed;
    free(line.bytes);
    return location;
}

static uint64_t class_string(struct pprof_file *file, uint32_t class_id)
{
    uint64_t *known = id_table_get(&file->classes, class_id);
    if (known == NULL)
        return 0;
    struct step_bytes name = trace_class_of(file->base.sites->names, class_id)->name;
    if (*known == 0)
        *known = write_string(file, name.data, name.length);
    return *known;
}

static void put_label(struct message *sample, uint64_t key, uint64_t text)
{
    struct message label = {.bytes = NULL};
    put_number(&label, 1, key);
    put_number(&label, 2, text);
    put_bytes(sample, 3, label.bytes, label.length);
    sample->failed = sample->failed || label.failed;
    free(label.bytes);
}

/* A sample's locations begin with the innermost frame. */
static bool write_sample(struct pprof_file *file, const struct heap_row *row, uint64_t class_key)
{
    struct message *sample = &file->sample, *packed = &file->packed;
    uint64_t class_name = class_string(file, row->key.class_id);
    sample->length = packed->length = 0;
    for (uint32_t at = row->key.site; at != 0; at = file->base.sites->items[at].parent) {
        uint64_t location = location_of(file, at);
        if (location == 0)
            return false;
        put_varint(packed, location);
    }
    put_bytes(sample, 1, packed->bytes, packed->length);
    packed->length = 0;
    put_varint(packed, row->allocated.objects);
    put_varint(packed, row->allocated.bytes);
    put_varint(packed, row->live.objects);
    put_varint(packed, row->live.bytes);
    put_bytes(sample, 2, packed->bytes, packed->length);
    put_label(sample, class_key, class_name);
    write_field(file, PROFILE_SAMPLE, sample->bytes, sample->length);
    return !sample->failed && !packed->failed && !file->part.failed;
}

static void write_head(struct pprof_file *file, const struct heap_snapshot *snapshot,
                       uint64_t *class_key)
{
    static const char *const types[] = {"alloc_objects", "alloc_space", "inuse_objects",
                                        "inuse_space"};
    write_text(file, ""); /* string 0 must be empty */
    uint64_t count = write_text(file, "count"), bytes = write_text(file, "bytes");
    uint64_t space = write_text(file, "space"), last = 0;
    for (size_t i = 0; i < 4; i++) {
        last = write_text(file, types[i]);
        write_value_type(file, PROFILE_SAMPLE_TYPE, last, i % 2 == 0 ? count : bytes);
        if (i == 1 && file->base.options.allocated)
            write_number(file, PROFILE_DEFAULT_TYPE, last);
    }
    if (!file->base.options.allocated)
        write_number(file, PROFILE_DEFAULT_TYPE, last);
    write_value_type(file, PROFILE_PERIOD_TYPE, space, bytes);
    write_number(file, PROFILE_PERIOD, 1); /* all bytes count: no sampling */
    if (file->base.start_ns != 0)
        write_number(file, PROFILE_TIME_NS, file->base.start_ns);
    write_number(file, PROFILE_DURATION_NS, snapshot->time_ns);
    if (file->base.title != NULL)
        write_number(file, PROFILE_COMMENT, write_text(file, file->base.title));
    *class_key = write_text(file, "class");
}

static enum step_status put(struct heap_writer *writer, struct heap_snapshot *snapshot,
                            struct step_error *error)
{
    struct pprof_file *file = of(writer);
    uint64_t class_key;
    id_table_init(&file->functions, sizeof(uint8_t));
    id_table_init(&file->classes, sizeof(uint64_t));
    file->has_snapshot = true;
    bool ok = heap_sites_init(&file->locations, writer->sites->names);
    heap_snapshot_fold(snapshot, HEAP_BY_CLASS | HEAP_BY_SITE);
    write_head(file, snapshot, &class_key);
    for (size_t i = 0; ok && i < snapshot->count; i++)
        ok = write_sample(file, &snapshot->rows[i], class_key);
    return ok ? STEP_STATUS_OK : no_memory(error);
}

static enum step_status close_file(struct heap_writer *writer, struct step_error *error)
{
    (void) writer, (void) error;
    return STEP_STATUS_OK;
}

static void reset(struct heap_writer *writer)
{
    struct pprof_file *file = of(writer);
    free(file->sample.bytes);
    free(file->packed.bytes);
    free(file->part.bytes);
    if (!file->has_snapshot)
        return;
    heap_sites_reset(&file->locations);
    id_table_reset(&file->functions);
    id_table_reset(&file->classes);
}

static const struct heap_writer_operations pprof_writer = {
    .put = put,
    .close = close_file,
    .reset = reset,
    .size_bytes = sizeof(struct pprof_file),
};

static const struct format_options *const options_of[] = {&heap_moment_options, &heap_options,
                                                          &compression_options, NULL};

const struct trace_format format_pprof = {
    .name = "pprof",
    .ending = ".pb.gz",
    .help = "pprof",
    .needs = FORMAT_NEEDS_HEAP,
    .packing = STEP_PACKING_GZIP,
    .options = options_of,
    .open_sink = heap_sink_create,
    .heap_writer = &pprof_writer,
};
