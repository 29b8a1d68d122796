/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes pprof's profile.proto (docs/formats/pprof.md) as one message: allocated and in-use amounts
 * by stack, with each sample labelled with its class.  The parts of a message may be in any order,
 * and strings are numbered as they are written, so only numbers are kept in memory.
 */
#include <string.h>

#include "converter/containers/no_memory.h"
#include "converter/heap/heap_sites.h"
#include "converter/heap/heap_writer.h"
#include "converter/output/protobuf_output.h"

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

struct pprof_file {
    struct heap_writer base;
    struct heap_sites locations; /* places without duplicates: sites without parents */
    struct id_table functions;   /* uint8_t, by method: already written */
    struct id_table classes;     /* uint64_t, by class: string of its name; 0: not written yet */
    uint64_t string_count;
    struct byte_output sample, stack, packed, part;
    struct step_buffer name; /* scratch */
};

static void pprof_write_part(struct pprof_file *file, enum profile_field field)
{
    protobuf_write_part(file->base.stream.file, field, &file->part);
}

static void write_number(struct pprof_file *file, enum profile_field field, uint64_t value)
{
    protobuf_write_number(file->base.stream.file, field, value);
}

/* Invalid UTF-8 becomes U+FFFD: strings of the format are UTF-8. */
static uint64_t write_string(struct pprof_file *file, const void *text, size_t length)
{
    struct step_bytes valid = bytes_valid_text(&file->sample, (struct step_bytes){text, length});
    protobuf_write_head(file->base.stream.file, PROFILE_STRING, valid.length);
    if (valid.length > 0)
        fwrite(valid.data, 1, valid.length, file->base.stream.file);
    return file->string_count++;
}

static uint64_t write_text(struct pprof_file *file, const char *text)
{
    return write_string(file, text, strlen(text));
}

static void write_value_type(struct pprof_file *file, enum profile_field field, uint64_t type,
                             uint64_t unit)
{
    bytes_clear(&file->part);
    protobuf_number(&file->part, 1, type);
    protobuf_number(&file->part, 2, unit);
    pprof_write_part(file, field);
}

static void write_function(struct pprof_file *file, uint64_t number, uint32_t method_id,
                           const char *path)
{
    if (!profile_function_name(file->base.sites->names, method_id, &file->name))
        file->sample.failed = true;
    uint64_t name = write_string(file, file->name.data, file->name.length);
    uint64_t file_name = path[0] != '\0' ? write_text(file, path) : 0;
    bytes_clear(&file->part);
    protobuf_number(&file->part, 1, number);
    protobuf_number(&file->part, 2, name);
    protobuf_number(&file->part, 3, name);
    protobuf_number(&file->part, 4, file_name);
    pprof_write_part(file, PROFILE_FUNCTION);
}

/* Returns the number of a method's function in the file of `place`.  Where a source map names
 * another file than the class's, the location has a function of its own. */
static uint64_t function_of(struct pprof_file *file, uint32_t method_id,
                            const struct frame_place *place, uint32_t location)
{
    char path[HEAP_SITE_TEXT];
    if (profile_place_path(file->base.sites->names, method_id, place, path)) {
        uint64_t number = (UINT64_C(1) << 32) + location;
        write_function(file, number, method_id, path);
        return number;
    }
    uint8_t *known = id_table_get(&file->functions, method_id);
    file->sample.failed = file->sample.failed || known == NULL;
    if (known != NULL && *known == 0) {
        *known = 1;
        write_function(file, (uint64_t) method_id + 1, method_id, path);
    }
    return (uint64_t) method_id + 1;
}

/* Returns the location of a site, written at its first use, or 0 if memory runs out. */
static uint64_t location_of(struct pprof_file *file, uint32_t site)
{
    const struct heap_site *place = &file->base.sites->items[site];
    struct byte_output *line = &file->packed;
    size_t before = file->locations.count;
    uint32_t location = heap_sites_put_place(&file->locations, place);
    if (location < before)
        return location;
    const struct frame_place at = heap_site_place(file->base.sites, place);
    uint64_t function = function_of(file, place->method_id, &at, location);
    bytes_clear(line);
    protobuf_number(line, 1, function);
    protobuf_number(line, 2, at.line);
    bytes_clear(&file->part);
    protobuf_number(&file->part, 1, location);
    protobuf_part(&file->part, 4, line);
    pprof_write_part(file, PROFILE_LOCATION);
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

static void put_label(struct pprof_file *file, uint64_t key, uint64_t text)
{
    bytes_clear(&file->part);
    protobuf_number(&file->part, 1, key);
    protobuf_number(&file->part, 2, text);
    protobuf_part(&file->sample, 3, &file->part);
}

/* A sample's locations begin with the innermost frame. */
static bool write_sample(struct pprof_file *file, const struct heap_row *row, uint64_t class_key)
{
    struct byte_output *sample = &file->sample, *packed = &file->packed;
    uint64_t class_name = class_string(file, row->key.class_id);
    bytes_clear(&file->stack);
    for (uint32_t at = row->key.site; at != 0; at = file->base.sites->items[at].parent) {
        uint64_t location = location_of(file, at);
        if (location == 0)
            return false;
        bytes_put_varint(&file->stack, location);
    }
    bytes_clear(sample);
    protobuf_part(sample, 1, &file->stack);
    bytes_clear(packed);
    bytes_put_varint(packed, row->allocated.objects);
    bytes_put_varint(packed, row->allocated.bytes);
    bytes_put_varint(packed, row->live.objects);
    bytes_put_varint(packed, row->live.bytes);
    protobuf_part(sample, 2, packed);
    put_label(file, class_key, class_name);
    protobuf_write_part(file->base.stream.file, PROFILE_SAMPLE, sample);
    return !sample->failed && !packed->failed && !file->part.failed && !file->stack.failed;
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
    if (trace_text_is_there(file->base.title))
        write_number(file, PROFILE_COMMENT, write_text(file, file->base.title.unshown));
    *class_key = write_text(file, "class");
}

static enum step_status pprof_put(struct heap_writer *writer, struct heap_snapshot *snapshot,
                                  struct step_error *error)
{
    struct pprof_file *file = (struct pprof_file *) writer;
    uint64_t class_key;
    id_table_init(&file->functions, sizeof(uint8_t));
    id_table_init(&file->classes, sizeof(uint64_t));
    bool ok = heap_sites_init(&file->locations, writer->sites->names);
    heap_snapshot_fold(snapshot, HEAP_BY_CLASS | HEAP_BY_SITE);
    write_head(file, snapshot, &class_key);
    for (size_t i = 0; ok && i < snapshot->count; i++)
        ok = write_sample(file, &snapshot->rows[i], class_key);
    return ok ? STEP_STATUS_OK : no_memory(error);
}

static void pprof_reset(struct heap_writer *writer)
{
    struct pprof_file *file = (struct pprof_file *) writer;
    bytes_reset(&file->sample);
    bytes_reset(&file->stack);
    bytes_reset(&file->packed);
    bytes_reset(&file->part);
    step_buffer_reset(&file->name);
    heap_sites_reset(&file->locations);
    id_table_reset(&file->functions);
    id_table_reset(&file->classes);
}

static const struct heap_writer_operations pprof_writer = {
    .put = pprof_put,
    .reset = pprof_reset,
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
    .sink = &heap_sink_operations,
    .heap_writer = &pprof_writer,
};
