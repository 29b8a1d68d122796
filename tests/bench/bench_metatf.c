/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_metatf TRACE.hatf [ROUNDS]: what a record costs in Meta-TF by generated code, in Meta-TF by
 * the universal reader and writer, and in HATF by hand-written code, on the same records in memory;
 * plain and compressed, in one stream and with the addresses split off.  Each figure is the best of
 * the rounds, which take turns, so that other load hits all alike.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "steptrace/hatf.h"
#include "steptrace/hatf_metatf.h"
#include "steptrace/hatf_split_metatf.h"
#include "steptrace/packed.h"

struct bytes {
    uint8_t *data;
    size_t length;
    size_t capacity;
};

static struct {
    struct hatf_record *records; /* their bytes are kept */
    size_t count;
    bool class_attributes;
} trace;

static _Noreturn void fail(const char *what, const struct step_error *error)
{
    fprintf(stderr, "bench_metatf: %s: %s\n", what, error->message);
    exit(1);
}

static double now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double) time.tv_sec * 1e9 + (double) time.tv_nsec;
}

static enum step_status keep(void *user, const void *data, size_t length, struct step_error *error)
{
    struct bytes *bytes = user;
    (void) error;
    if (bytes->capacity - bytes->length < length) {
        bytes->capacity = 2 * bytes->capacity + length;
        bytes->data = realloc(bytes->data, bytes->capacity);
        if (bytes->data == NULL)
            abort();
    }
    memcpy(bytes->data + bytes->length, data, length);
    bytes->length += length;
    return STEP_STATUS_OK;
}

static void load(const char *path)
{
    struct hatf_reader *reader;
    struct hatf_record record;
    struct step_error error = {.message = ""};
    size_t room = 0;
    if (hatf_reader_open(path, &reader, &error) != STEP_STATUS_OK)
        fail(path, &error);
    while (hatf_reader_next(reader, &record, &error) == STEP_STATUS_OK) {
        if (record.tag >= HATF_COMMENT)
            continue;
        if (trace.count == room) {
            room = 2 * room + 1024;
            trace.records = realloc(trace.records, room * sizeof record);
            if (trace.records == NULL)
                abort();
        }
        if (record.attributes.length > 0) {
            uint8_t *copy = malloc(record.attributes.length);
            if (copy == NULL)
                abort();
            memcpy(copy, record.attributes.data, record.attributes.length);
            record.attributes.data = copy;
        }
        trace.records[trace.count++] = record;
    }
    hatf_reader_destroy(reader);
}

/* What a reader gave, so that nothing of it can be left out. */
static uint64_t sum;

/* ---- HATF by hand ---- */

struct form {
    bool split;
    bool packed;
};

struct packed_streams {
    struct bytes bytes[HATF_STREAM_COUNT];
    struct step_packed_output *packed[HATF_STREAM_COUNT];
    struct step_output outputs[HATF_STREAM_COUNT];
};

static void open_streams(struct packed_streams *streams, const struct form *form)
{
    struct step_error error;
    for (unsigned i = 0; i < HATF_STREAM_COUNT; i++) {
        streams->bytes[i].length = 0;
        streams->outputs[i] = (struct step_output){&streams->bytes[i], keep};
        streams->packed[i] = NULL;
        if (!form->packed)
            continue;
        if (step_packed_output_create(STEP_PACKING_ZSTD, 5, &streams->outputs[i],
                                      &streams->packed[i], &error) != STEP_STATUS_OK)
            fail("zstd", &error);
        streams->outputs[i] = step_packed_output_as_output(streams->packed[i]);
    }
}

static size_t close_streams(struct packed_streams *streams)
{
    size_t total = 0;
    struct step_error error;
    for (unsigned i = 0; i < HATF_STREAM_COUNT; i++) {
        if (streams->packed[i] != NULL &&
            step_packed_output_close(streams->packed[i], &error) != STEP_STATUS_OK)
            fail("zstd", &error);
        step_packed_output_destroy(streams->packed[i]);
        total += streams->bytes[i].length;
    }
    return total;
}

/* A field grows where a value does not fit, as with the adapting writers of Meta-TF. */
static void put_growing(struct hatf_writer *writer, const struct hatf_record *record)
{
    struct step_error error = {.message = ""};
    enum hatf_field misfit;
    while (hatf_writer_put(writer, record, &misfit, &error) != STEP_STATUS_OK) {
        const uint64_t values[] = {record->size, record->address | record->new_address,
                                   record->time, record->thread,
                                   record->heap, 0};
        enum hatf_width width =
            misfit == HATF_ATTRIBUTES ? HATF_WIDTH_V1 : hatf_width_of_unsigned(values[misfit]);
        if (hatf_writer_set_interpretation(writer, misfit, HATF_NONE, 0, 0, &error) !=
                STEP_STATUS_OK ||
            hatf_writer_set_width(writer, misfit, width, &error) != STEP_STATUS_OK)
            fail("hatf", &error);
    }
}

static struct packed_streams hatf_streams;

static size_t write_hatf(const struct form *form)
{
    struct hatf_writer *writer;
    struct step_error error = {.message = ""};
    open_streams(&hatf_streams, form);
    enum step_status status =
        form->split
            ? hatf_writer_create_split(hatf_streams.outputs, HATF_SPLIT_ADDRESS, &writer, &error)
            : hatf_writer_create(&hatf_streams.outputs[0], &writer, &error);
    if (status != STEP_STATUS_OK)
        fail("hatf", &error);
    for (size_t i = 0; i < trace.count; i++)
        put_growing(writer, &trace.records[i]);
    if (hatf_writer_close(writer, &error) != STEP_STATUS_OK)
        fail("hatf", &error);
    hatf_writer_destroy(writer);
    return close_streams(&hatf_streams);
}

struct memory {
    const struct bytes *bytes;
    size_t at;
};

static enum step_status read_memory(void *user, void *buffer, size_t size, size_t *got,
                                    struct step_error *error)
{
    struct memory *memory = user;
    (void) error;
    size_t left = memory->bytes->length - memory->at;
    *got = left < size ? left : size;
    if (*got > 0)
        memcpy(buffer, memory->bytes->data + memory->at, *got);
    memory->at += *got;
    return STEP_STATUS_OK;
}

static void read_hatf(const struct form *form)
{
    struct memory memories[HATF_STREAM_COUNT];
    struct hatf_input inputs[HATF_STREAM_COUNT];
    struct step_packed_input *packed[HATF_STREAM_COUNT] = {NULL};
    struct hatf_reader *reader;
    struct hatf_record record;
    struct step_error error = {.message = ""};
    for (unsigned i = 0; i < HATF_STREAM_COUNT; i++) {
        memories[i] = (struct memory){&hatf_streams.bytes[i], 0};
        inputs[i] = (struct hatf_input){&memories[i], read_memory};
        if (form->packed && hatf_streams.bytes[i].length > 0) {
            if (step_packed_input_open_memory(hatf_streams.bytes[i].data,
                                              hatf_streams.bytes[i].length, "bench", &packed[i],
                                              &error) != STEP_STATUS_OK)
                fail("zstd", &error);
            inputs[i] = (struct hatf_input){packed[i], step_packed_input_read};
        }
    }
    enum step_status status =
        form->split ? hatf_reader_create_split(inputs, HATF_SPLIT_ADDRESS, "bench", &reader, &error)
                    : hatf_reader_create(&inputs[0], "bench", &reader, &error);
    size_t count = 0;
    while (status == STEP_STATUS_OK) {
        status = hatf_reader_next(reader, &record, &error);
        if (status == STEP_STATUS_OK && record.tag != HATF_METADATA) {
            sum += record.address + record.size + record.time + record.attributes.length;
            count++;
        }
    }
    if (status != STEP_STATUS_END || count != trace.count)
        fail("hatf", &error);
    hatf_reader_destroy(reader);
    for (unsigned i = 0; i < HATF_STREAM_COUNT; i++)
        step_packed_input_close(packed[i]);
}

/* ---- Meta-TF ---- */

static struct bytes metatf_bytes;

static struct metatf_writer *start_writer(const struct form *form)
{
    struct metatf_writer_options options;
    struct metatf_writer *writer;
    struct step_error error = {.message = ""};
    metatf_writer_options_init(&options);
    metatf_bytes.length = 0;
    options.dtd = form->split ? &step_hatf_split_metatf_dtd : &step_hatf_metatf_dtd;
    options.output = (struct step_output){&metatf_bytes, keep};
    options.big_endian = true; /* as HATF */
    options.embed_dtd = false;
    options.compression = form->packed ? STEP_COMPRESSION_ZSTD : STEP_COMPRESSION_NONE;
    options.segment_bytes = (size_t) 1 << 20;
    if (metatf_writer_create(&options, &writer, &error) != STEP_STATUS_OK)
        fail("metatf", &error);
    return writer;
}

static size_t end_writer(struct metatf_writer *writer)
{
    struct step_error error = {.message = ""};
    if (metatf_writer_close(writer, &error) != STEP_STATUS_OK)
        fail("metatf", &error);
    metatf_writer_destroy(writer);
    return metatf_bytes.length;
}

#define COMMON(struct_name)                                                                        \
    event.as.struct_name.thread = record->thread;                                                  \
    event.as.struct_name.time = record->time;                                                      \
    event.as.struct_name.attributes_data = record->attributes
#define REALLOC(struct_name, KIND)                                                                 \
    event.kind = KIND;                                                                             \
    event.as.struct_name.size = record->size;                                                      \
    event.as.struct_name.address = record->address;                                                \
    event.as.struct_name.address2 = record->new_address;                                           \
    event.as.struct_name.heap = record->heap;                                                      \
    COMMON(struct_name);                                                                           \
    break

/* The records as generated events of one of the two DTDs. */
#define GENERATED(base, BASE)                                                                      \
    static enum step_status put_##base(struct metatf_writer *writer,                               \
                                       const struct hatf_record *record, struct step_error *error) \
    {                                                                                              \
        struct base##_event event;                                                                 \
        switch (record->tag) {                                                                     \
        case HATF_ALLOC:                                                                           \
            event.kind = BASE##_HEAP_ALLOC;                                                        \
            event.as.heap_alloc.size = record->size;                                               \
            event.as.heap_alloc.address = record->address;                                         \
            event.as.heap_alloc.heap = record->heap;                                               \
            COMMON(heap_alloc);                                                                    \
            break;                                                                                 \
        case HATF_FREE:                                                                            \
            event.kind = BASE##_HEAP_FREE;                                                         \
            event.as.heap_free.address = record->address;                                          \
            event.as.heap_free.heap = record->heap;                                                \
            COMMON(heap_free);                                                                     \
            break;                                                                                 \
        case HATF_REALLOC_NO_ALLOC:                                                                \
            REALLOC(heap_reallocNoAlloc, BASE##_HEAP_REALLOCNOALLOC);                              \
        case HATF_REALLOC_ALLOC_FREE:                                                              \
            REALLOC(heap_reallocAllocFree, BASE##_HEAP_REALLOCALLOCFREE);                          \
        case HATF_REALLOC_ALLOC:                                                                   \
            REALLOC(heap_reallocAlloc, BASE##_HEAP_REALLOCALLOC);                                  \
        case HATF_REALLOC_FREE:                                                                    \
            REALLOC(heap_reallocFree, BASE##_HEAP_REALLOCFREE);                                    \
        case HATF_CREATE_THREAD:                                                                   \
            event.kind = BASE##_HEAP_CREATETHREAD;                                                 \
            COMMON(heap_createThread);                                                             \
            break;                                                                                 \
        case HATF_DESTROY_THREAD:                                                                  \
            event.kind = BASE##_HEAP_DESTROYTHREAD;                                                \
            COMMON(heap_destroyThread);                                                            \
            break;                                                                                 \
        case HATF_CREATE_HEAP:                                                                     \
            event.kind = BASE##_HEAP_CREATEHEAP;                                                   \
            event.as.heap_createHeap.heap = record->heap;                                          \
            COMMON(heap_createHeap);                                                               \
            break;                                                                                 \
        default:                                                                                   \
            event.kind = BASE##_HEAP_DESTROYHEAP;                                                  \
            event.as.heap_destroyHeap.heap = record->heap;                                         \
            COMMON(heap_destroyHeap);                                                              \
            break;                                                                                 \
        }                                                                                          \
        return base##_put_event(writer, &event, error);                                            \
    }                                                                                              \
    static size_t read_##base(struct metatf_reader *reader, struct step_error *error)              \
    {                                                                                              \
        struct base##_event event;                                                                 \
        size_t count = 0;                                                                          \
        while (base##_get_next_event(reader, &event, error) == STEP_STATUS_OK) {                   \
            if (event.kind == BASE##_HEAP_ALLOC)                                                   \
                sum += event.as.heap_alloc.address + event.as.heap_alloc.size +                    \
                       event.as.heap_alloc.time + event.as.heap_alloc.attributes_data.length;      \
            else if (event.kind == BASE##_HEAP_FREE)                                               \
                sum += event.as.heap_free.address + event.as.heap_free.time;                       \
            count++;                                                                               \
        }                                                                                          \
        return count;                                                                              \
    }

GENERATED(step_hatf_metatf, STEP_HATF_METATF)
GENERATED(step_hatf_split_metatf, STEP_HATF_SPLIT_METATF)

static size_t write_generated(const struct form *form)
{
    struct metatf_writer *writer = start_writer(form);
    struct step_error error = {.message = ""};
    for (size_t i = 0; i < trace.count; i++)
        if ((form->split
                 ? put_step_hatf_split_metatf(writer, &trace.records[i], &error)
                 : put_step_hatf_metatf(writer, &trace.records[i], &error)) != STEP_STATUS_OK)
            fail("metatf", &error);
    return end_writer(writer);
}

static size_t list_values(const struct hatf_record *record, struct metatf_value *values)
{
    size_t count = 1;
    if (hatf_tag_has(record->tag, HATF_SIZE))
        values[count++].number = record->size;
    if (hatf_tag_has(record->tag, HATF_ADDRESS))
        values[count++].number = record->address;
    if (record->tag >= HATF_REALLOC_NO_ALLOC && record->tag <= HATF_REALLOC_FREE)
        values[count++].number = record->new_address;
    if (record->tag == HATF_CREATE_HEAP || record->tag == HATF_DESTROY_HEAP)
        values[count++].number = record->heap;
    values[count++].number = record->thread;
    if (record->tag < HATF_CREATE_HEAP)
        values[count++].number = record->heap;
    values[count++].number = record->time;
    values[count++].number = record->attributes.length;
    values[count++].bytes = record->attributes;
    return count;
}

static size_t write_universal(const struct form *form)
{
    static const uint32_t order[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}; /* the DTD has HATF's order */
    struct metatf_writer *writer = start_writer(form);
    struct step_error error = {.message = ""};
    struct metatf_value values[10] = {{.number = 0}};
    for (size_t i = 0; i < trace.count; i++) {
        const struct hatf_record *record = &trace.records[i];
        size_t count = list_values(record, values);
        if (metatf_writer_put(writer, 1, order[record->tag], values, count, NULL, &error) !=
            STEP_STATUS_OK)
            fail("metatf", &error);
    }
    return end_writer(writer);
}

static enum step_status read_at(void *user, uint64_t offset, void *buffer, size_t size,
                                struct step_error *error)
{
    const struct bytes *bytes = user;
    (void) error;
    memcpy(buffer, bytes->data + offset, size);
    return STEP_STATUS_OK;
}

static void read_metatf(const struct form *form, bool universal)
{
    const struct metatf_input input = {&metatf_bytes, metatf_bytes.length, read_at};
    const struct metatf_dtd *dtd =
        form->split ? &step_hatf_split_metatf_dtd : &step_hatf_metatf_dtd;
    struct metatf_file *file;
    struct metatf_reader *reader;
    struct metatf_event event;
    struct step_error error = {.message = ""};
    size_t count = 0;
    if (metatf_file_open(&input, "bench", &file, &error) != STEP_STATUS_OK ||
        metatf_reader_create(file, dtd, &reader, &error) != STEP_STATUS_OK)
        fail("metatf", &error);
    if (!universal)
        count = form->split ? read_step_hatf_split_metatf(reader, &error)
                            : read_step_hatf_metatf(reader, &error);
    else
        while (metatf_reader_next(reader, &event, &error) == STEP_STATUS_OK)
            if (event.record->role == METATF_DATA) {
                sum += event.values[1].number + event.values[2].number;
                count++;
            }
    if (count != trace.count)
        fail("metatf", &error);
    metatf_reader_destroy(reader);
    metatf_file_close(file);
}

/* ---- rounds ---- */

enum way { HATF, GENERATED_CODE, UNIVERSAL, WAYS };

struct result {
    double write_ns, read_ns;
    size_t bytes;
};

static void run(enum way way, const struct form *form, struct result *best)
{
    double start = now_ns();
    best->bytes = way == HATF             ? write_hatf(form)
                  : way == GENERATED_CODE ? write_generated(form)
                                          : write_universal(form);
    double written = now_ns();
    if (way == HATF)
        read_hatf(form);
    else
        read_metatf(form, way == UNIVERSAL);
    double read = now_ns();
    if (best->write_ns == 0 || written - start < best->write_ns)
        best->write_ns = written - start;
    if (best->read_ns == 0 || read - written < best->read_ns)
        best->read_ns = read - written;
}

int main(int argc, char **argv)
{
    static const char *const names[WAYS] = {"HATF, by hand", "Meta-TF, generated",
                                            "Meta-TF, universal"};
    static const struct form forms[] = {{false, false}, {true, false}, {false, true}, {true, true}};
    int rounds = argc > 2 ? atoi(argv[2]) : 7;
    if (argc < 2 || rounds < 1) {
        fprintf(stderr, "usage: bench_metatf TRACE.hatf [ROUNDS]\n");
        return 2;
    }
    load(argv[1]);
    double records = (double) trace.count;
    printf("%s: %zu records, best of %d\n\n", argv[1], trace.count, rounds);
    printf("| form | | write ns/record | read ns/record | bytes/record | write ratio | read ratio "
           "|\n|---|---|--:|--:|--:|--:|--:|\n");
    for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++) {
        struct result results[WAYS] = {{0, 0, 0}};
        for (int round = 0; round < rounds; round++)
            for (unsigned way = 0; way < WAYS; way++)
                run((enum way) way, &forms[f], &results[way]);
        for (unsigned way = 0; way < WAYS; way++)
            printf("| %s%s | %s | %.1f | %.1f | %.3f | %.2f | %.2f |\n",
                   forms[f].split ? "split" : "one stream", forms[f].packed ? ", zstd" : "",
                   names[way], results[way].write_ns / records, results[way].read_ns / records,
                   (double) results[way].bytes / records,
                   results[way].write_ns / results[HATF].write_ns,
                   results[way].read_ns / results[HATF].read_ns);
    }
    return sum == 42; /* it is used */
}
