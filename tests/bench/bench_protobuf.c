/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_protobuf [EVENTS]: the same made-up Java events written and read by protobuf-c (length and
 * message, one after the other; whole, and compressed by zstd level 5) and by STEP's writer and
 * generic reader. Bytes and processor time of each, side by side.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events.pb-c.h"
#include "format/core/bytes.h"
#include "format/core/compress.h"
#include "format/io/memory_output.h"
#include "steptrace/reader.h"
#include "tests/bench/bench.h"

static const char definition_text[] =
    "record Class { string name; }\n"
    "record Event { int time <property:\"unsigned\"> <encoding:\"delta\">;\n"
    "  int thread <property:\"unsigned\"> <encoding:\"default\">; }\n"
    "record Alloc extends Event { Class class <encoding:\"identifier\">;\n"
    "  int size <property:\"unsigned\"> <encoding:\"given=class\">;\n"
    "  int object <property:\"unsigned\"> <encoding:\"stride=1\">; }\n"
    "record Free extends Event { int object <property:\"unsigned\"> <encoding:\"delta\">; }\n";
enum { ALLOC = 2, FREE = 3, CLASSES = 500 };

struct event {
    uint64_t time, size, object;
    uint32_t class_id;
    bool is_free;
};

static struct event *make_events(size_t count)
{
    struct event *events = calloc(count + 1, sizeof *events);
    uint64_t random = 88172645463325252u, object = 0, freed = 0, time = 0;
    for (size_t i = 0; events != NULL && i < count; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        bool is_free = i % 100000 > 60000 && freed + 4 < object;
        uint32_t class_id = 1 + (uint32_t) ((i % 12 * 37 + i / 5000 + random % 64 / 60) % CLASSES);
        time += is_free ? 0 : random % 8 / 6;
        freed += is_free ? 1 + random % 16 / 14 : 0;
        events[i] = (struct event){time, 16 + class_id % 9 * 8 + random % 32 / 31 * 8,
                                   is_free ? freed : ++object, class_id, is_free};
    }
    return events;
}

static void require(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "bench_protobuf: %s failed\n", what);
    exit(1);
}

static void report(const char *name, size_t bytes, double write, double read, size_t count)
{
    printf("%-22s %9.4f bytes an event, write %6.1f ns, read %6.1f ns\n", name,
           (double) bytes / (double) count, write * 1e9 / (double) count,
           read * 1e9 / (double) count);
}

static uint64_t read_messages(const struct step_buffer *buffer)
{
    uint64_t sum = 0;
    struct step_cursor cursor = step_cursor_of(buffer->data, buffer->length);
    while (step_cursor_left(&cursor) > 0) {
        uint64_t length;
        const uint8_t *bytes;
        require(step_cursor_varint(&cursor, &length) && step_cursor_bytes(&cursor, length, &bytes),
                "reading a message");
        Bench__Event *event = bench__event__unpack(NULL, (size_t) length, bytes);
        require(event != NULL, "unpacking");
        sum += event->object;
        bench__event__free_unpacked(event, NULL);
    }
    return sum;
}

static uint64_t run_protobuf(const struct event *events, size_t count)
{
    struct step_buffer buffer = {0}, packed = {0};
    struct step_compressor *compressor;
    enum step_compression method;
    double start = now();
    for (size_t i = 0; i < count; i++) {
        Bench__Event event = BENCH__EVENT__INIT;
        event.time = events[i].time;
        event.thread = 1;
        event.class_id = events[i].is_free ? 0 : events[i].class_id;
        event.size = events[i].is_free ? 0 : events[i].size;
        event.object = events[i].object;
        event.kind = events[i].is_free;
        size_t length = bench__event__get_packed_size(&event);
        require(step_buffer_append_varint(&buffer, length) && step_buffer_reserve(&buffer, length),
                "memory");
        buffer.length += bench__event__pack(&event, buffer.data + buffer.length);
    }
    double written = now();
    uint64_t sum = read_messages(&buffer);
    double read = now();
    report("protobuf-c", buffer.length, written - start, read - written, count);
    require(step_compressor_create(STEP_COMPRESSION_ZSTD, 5, &compressor) == STEP_STATUS_OK,
            "zstd");
    double before = now();
    step_compress(compressor, false, buffer.data, buffer.length, &packed, &method);
    double after = now();
    struct step_decompressor *decompressor;
    require(step_decompressor_create(&decompressor) == STEP_STATUS_OK, "zstd");
    step_decompress(decompressor, method, packed.data, packed.length, buffer.data, buffer.length);
    double back = now();
    report("protobuf-c and zstd", packed.length, written - start + after - before,
           read - written + back - after, count);
    step_compressor_destroy(compressor);
    step_decompressor_destroy(decompressor);
    step_buffer_reset(&buffer);
    step_buffer_reset(&packed);
    return sum;
}

static uint64_t run_step(const struct event *events, size_t count)
{
    struct step_definition *definition;
    struct step_writer_options options;
    struct step_writer *writer;
    struct step_reader *reader;
    struct step_buffer file = {0};
    struct step_block *block = NULL;
    struct step_record_view view;
    uint64_t sum = 0;
    require(step_definition_parse(definition_text, sizeof definition_text - 1, "bench", NULL, NULL,
                                  &definition, NULL) == STEP_STATUS_OK,
            "the definition");
    step_writer_options_init(&options);
    options.definition = definition;
    options.output = step_memory_output(&file);
    double start = now();
    require(step_writer_create(&options, &writer, NULL) == STEP_STATUS_OK, "the writer");
    for (size_t i = 0; i < count; i++) {
        const struct event *event = &events[i];
        uint64_t alloc[] = {event->time, 1, event->class_id, event->size, event->object};
        uint64_t freed[] = {event->time, 1, event->object};
        step_writer_put(writer, 0, event->is_free ? FREE : ALLOC, event->is_free ? freed : alloc);
    }
    require(step_writer_close(writer, NULL) == STEP_STATUS_OK, "closing");
    double written = now();
    require(step_reader_open_memory(file.data, file.length, "bench", &reader, NULL) ==
                STEP_STATUS_OK,
            "opening");
    for (size_t i = 0; i < step_reader_block_count(reader); i++) {
        require(step_reader_load(reader, i, NULL, &block, NULL) == STEP_STATUS_OK, "loading");
        while (step_block_next(block, &view) == STEP_STATUS_OK)
            sum += view.slots[view.record == FREE ? 2 : 4];
    }
    double read = now();
    report("STEP", file.length, written - start, read - written, count);
    step_block_destroy(block);
    step_reader_destroy(reader);
    step_writer_destroy(writer);
    step_definition_destroy(definition);
    step_buffer_reset(&file);
    return sum;
}

int main(int argc, char **argv)
{
    size_t count = argc > 1 ? (size_t) strtoull(argv[1], NULL, 10) : 4000000;
    struct event *events = make_events(count);
    require(events != NULL, "memory");
    bool same = run_protobuf(events, count) == run_step(events, count);
    require(same, "the comparison of what was read");
    free(events);
    return 0;
}
