/* SPDX-License-Identifier: Apache-2.0 */
/*
 * step_table FILE.step: what the allocations and frees of a trace take in the forms of the STEP
 * paper's table 1, without their times; a line "name bytes" for each.
 *
 *   records       how many allocations and frees
 *   raw, raw.gz   plain binary, the fields of the paper's figure 2
 *   paper, .gz    STEP rows with the attributes of figure 2
 *   rows, .gz     STEP rows with ours
 *   columns       STEP as the agent records: the streams of the trace, its blocks, zstd
 *   packed        the same as `steptrace pack` has it
 *
 * Rows are one stream in the trace's order; gzip is zlib's at level 6.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "converter/formats/input.h"
#include "steptrace/writer.h"
#include "tests/bench/bench.h"

static const char paper_text[] =
    "record JVMPI_Event { <property:\"event\">\n"
    "  int envId <property:\"address\"> <encoding:\"size=4,default\">; }\n"
    "record OBJECT_ALLOC extends JVMPI_Event {\n"
    "  int arenaId <property:\"address\"> <encoding:\"size=4,identifier\">;\n"
    "  int classId <property:\"address\"> <encoding:\"size=4,identifier\">;\n"
    "  int isArray <property:\"unsigned\"> <encoding:\"size=1\">;\n"
    "  int size <property:\"unsigned\">;\n"
    "  int objId <property:\"address\"> <encoding:\"size=4+,delta=32768\">; }\n"
    "record OBJECT_FREE extends JVMPI_Event {\n"
    "  int objId <property:\"address\"> <encoding:\"size=4+,delta=32768\">; }\n";
enum { PAPER_ALLOC = 1, PAPER_FREE };

static const char our_text[] =
    "record Class { string name; }\n"
    "record Thread { string name; }\n"
    "record Event { <property:\"event\">\n"
    "  Thread thread <property:\"thread\"> <encoding:\"identifier,default\">; }\n"
    "record Alloc extends Event {\n"
    "  Class class <encoding:\"identifier\">;\n"
    "  int size <property:\"unsigned\"> <encoding:\"given=class\">;\n"
    "  int object <property:\"unsigned\"> <encoding:\"stride=1\">; }\n"
    "record Free extends Event { int object <property:\"unsigned\"> <encoding:\"delta\">; }\n";
enum { OUR_ALLOC = 3, OUR_FREE };

/* Counts the bytes that pass, and what gzip makes of them. */
struct meter {
    uint64_t bytes;
    uint64_t packed;
    z_stream gzip;
};

static void meter_open(struct meter *meter)
{
    *meter = (struct meter){0};
    if (deflateInit2(&meter->gzip, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        exit(1);
}

static void meter_run(struct meter *meter, const void *data, size_t length, int flush)
{
    static uint8_t out[1 << 16];
    union {
        const void *in;
        Bytef *out;
    } source = {data};
    meter->gzip.next_in = source.out;
    meter->gzip.avail_in = (uInt) length;
    meter->bytes += length;
    do {
        meter->gzip.next_out = out;
        meter->gzip.avail_out = sizeof out;
        deflate(&meter->gzip, flush);
        meter->packed += sizeof out - meter->gzip.avail_out;
    } while (meter->gzip.avail_out == 0);
}

static enum step_status meter_write(void *user, const void *data, size_t length,
                                    struct step_error *error)
{
    (void) error;
    const uint8_t *at = data;
    for (; length > 1 << 24; length -= 1 << 24, at += 1 << 24)
        meter_run(user, at, 1 << 24, Z_NO_FLUSH);
    meter_run(user, at, length, Z_NO_FLUSH);
    return STEP_STATUS_OK;
}

static void meter_report(struct meter *meter, const char *name, bool gzipped)
{
    meter_run(meter, NULL, 0, Z_FINISH);
    deflateEnd(&meter->gzip);
    printf("%s %" PRIu64 "\n", name, meter->bytes);
    if (gzipped)
        printf("%s.gz %" PRIu64 "\n", name, meter->packed);
}

static enum step_status count_only(void *user, const void *data, size_t length,
                                   struct step_error *error)
{
    (void) data;
    (void) error;
    *(uint64_t *) user += length;
    return STEP_STATUS_OK;
}

static struct step_definition *parse(const char *text)
{
    struct step_definition *definition;
    struct step_error error = {0};
    check(step_definition_parse(text, strlen(text), "table", NULL, NULL, &definition, &error),
          &error);
    return definition;
}

static struct step_writer *make_writer(const struct step_definition *definition,
                                       struct step_output output, enum step_write_layout layout,
                                       enum step_compression compression, uint32_t block_records)
{
    struct step_writer_options options;
    struct step_writer *writer;
    struct step_error error = {0};
    step_writer_options_init(&options);
    options.definition = definition;
    options.output = output;
    options.layout = layout;
    options.compression = compression;
    options.block_records = block_records;
    options.memory_bytes = (size_t) 1 << 30;
    check(step_writer_create(&options, &writer, &error), &error);
    return writer;
}

static void finish(struct step_writer *writer)
{
    struct step_error error = {0};
    check(step_writer_close(writer, &error), &error);
    step_writer_destroy(writer);
}

/* The forms that are one stream in the trace's order. */
struct streams {
    const struct trace_names *names;
    struct meter raw, paper, rows;
    struct step_writer *paper_writer, *rows_writer;
    uint64_t records;
};

static void put_raw(struct meter *meter, const uint8_t *sizes, size_t count, const uint64_t *values)
{
    uint8_t bytes[64];
    size_t length = 0;
    for (size_t i = 0; i < count; i++)
        for (unsigned k = 0; k < sizes[i]; k++)
            bytes[length++] = (uint8_t) (values[i] >> (8 * k));
    meter_run(meter, bytes, length, Z_NO_FLUSH);
}

static void put_event(struct streams *streams, const struct trace_event *event)
{
    static const uint8_t alloc_sizes[] = {1, 4, 4, 4, 1, 4, 4};
    static const uint8_t free_sizes[] = {1, 4, 4};
    uint64_t thread = event->thread_id;
    if (event->kind == EVENT_OBJECT_ALLOC) {
        const struct trace_class *type = trace_class_of(streams->names, event->class_id);
        uint64_t is_array = type->name.length > 0 && type->name.data[0] == '[';
        uint64_t raw[] = {0, thread, 0, event->class_id, is_array, event->size, event->object};
        uint64_t ours[] = {thread, event->class_id, event->size, event->object};
        put_raw(&streams->raw, alloc_sizes, 7, raw);
        step_writer_put(streams->paper_writer, 0, PAPER_ALLOC, raw + 1);
        step_writer_put(streams->rows_writer, 0, OUR_ALLOC, ours);
    } else {
        uint64_t raw[] = {1, thread, event->object};
        put_raw(&streams->raw, free_sizes, 3, raw);
        step_writer_put(streams->paper_writer, 0, PAPER_FREE, raw + 1);
        step_writer_put(streams->rows_writer, 0, OUR_FREE, raw + 1);
    }
    streams->records++;
}

static enum step_status visit(void *user, const struct trace_event *events, size_t count,
                              struct step_error *error)
{
    (void) error;
    for (size_t i = 0; i < count; i++)
        if (events[i].kind == EVENT_OBJECT_ALLOC || events[i].kind == EVENT_OBJECT_FREE)
            put_event(user, &events[i]);
    return STEP_STATUS_OK;
}

static void measure_rows(const char *path)
{
    struct step_definition *paper = parse(paper_text);
    struct step_definition *ours = parse(our_text);
    struct streams streams = {0};
    struct event_selection selected;
    struct input input;
    event_selection_init(&selected);
    selected.kinds = TRACE_KIND_BIT(EVENT_OBJECT_ALLOC) | TRACE_KIND_BIT(EVENT_OBJECT_FREE);
    meter_open(&streams.raw);
    meter_open(&streams.paper);
    meter_open(&streams.rows);
    streams.paper_writer = make_writer(paper, (struct step_output){&streams.paper, meter_write},
                                       STEP_WRITE_ROWS, STEP_COMPRESSION_NONE, 0);
    streams.rows_writer = make_writer(ours, (struct step_output){&streams.rows, meter_write},
                                      STEP_WRITE_ROWS, STEP_COMPRESSION_NONE, 0);
    if (input_open(&input, path, NULL, &selected) != STEP_STATUS_OK)
        exit(1);
    streams.names = &input.source->names;
    if (input_each(&input, visit, &streams) != STEP_STATUS_OK)
        exit(1);
    finish(streams.paper_writer);
    finish(streams.rows_writer);
    printf("records %" PRIu64 "\n", streams.records);
    meter_report(&streams.raw, "raw", true);
    meter_report(&streams.paper, "paper", true);
    meter_report(&streams.rows, "rows", true);
    input_close(&input);
    step_definition_destroy(paper);
    step_definition_destroy(ours);
}

/* The slots of a record of the trace that are ours, or 0 of them. */
struct kept {
    uint32_t record;
    size_t count;
    size_t slots[4];
};

static void keep(const struct step_definition *definition, const char *name, uint32_t record,
                 const char *const *fields, size_t count, struct kept *kept)
{
    uint32_t index = step_definition_find(definition, name);
    if (index == STEP_NO_RECORD)
        return;
    const struct step_record *type = &definition->records[index];
    kept[index] = (struct kept){.record = record, .count = count};
    for (size_t i = 0; i < count; i++)
        kept[index].slots[i] = step_record_find_field(type, fields[i]);
}

/* Streams as they are; all fields of the events are single slots. */
static void measure_columns(const char *path)
{
    static const char *const alloc_fields[] = {"thread", "class", "size", "object"};
    static const char *const free_fields[] = {"thread", "object"};
    struct step_definition *ours = parse(our_text);
    struct step_reader *reader;
    struct step_error error = {0};
    struct step_block *block = NULL;
    uint64_t columns = 0;
    uint64_t packed = 0;
    check(step_reader_open(path, &reader, &error), &error);
    const struct step_definition *definition = step_reader_borrow_definition(reader);
    struct kept *kept = calloc(definition->record_count, sizeof *kept);
    if (kept == NULL)
        exit(1);
    keep(definition, "java.ObjectAlloc", OUR_ALLOC, alloc_fields, 4, kept);
    keep(definition, "java.ObjectExisting", OUR_ALLOC, alloc_fields, 4, kept);
    keep(definition, "java.ObjectFree", OUR_FREE, free_fields, 2, kept);
    struct step_writer *writers[] = {make_writer(ours, (struct step_output){&columns, count_only},
                                                 STEP_WRITE_SMALLEST, STEP_COMPRESSION_ZSTD, 0),
                                     make_writer(ours, (struct step_output){&packed, count_only},
                                                 STEP_WRITE_SMALLEST, STEP_COMPRESSION_BEST,
                                                 3000000)};
    for (size_t i = 0; i < step_reader_block_count(reader); i++) {
        uint64_t stream = step_reader_block_info(reader, i)->stream;
        struct step_record_view view;
        check(step_reader_load(reader, i, NULL, &block, &error), &error);
        while (step_block_next(block, &view) == STEP_STATUS_OK) {
            const struct kept *type = &kept[view.record];
            uint64_t slots[4];
            for (size_t k = 0; k < type->count; k++)
                slots[k] = view.slots[type->slots[k]];
            for (size_t k = 0; k < 2 && type->count > 0; k++)
                step_writer_put(writers[k], stream, type->record, slots);
        }
    }
    finish(writers[0]);
    finish(writers[1]);
    printf("columns %" PRIu64 "\npacked %" PRIu64 "\n", columns, packed);
    free(kept);
    step_block_destroy(block);
    step_reader_destroy(reader);
    step_definition_destroy(ours);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "step_table FILE.step\n");
        return 2;
    }
    measure_rows(argv[1]);
    measure_columns(argv[1]);
    return 0;
}
