/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the STEP file costs: time to encode and to decode an event, and bytes an event by column.
 *
 *   bench_step [-n EVENTS] [-l LEVEL] [-b BLOCK_RECORDS] [-r RESOLUTION_NS] [-t TIMES]
 *              [-L LAYOUT] [-p] [FILE.step]
 *   bench_step -c FILE.step
 *
 * Without a file, the events are made up: allocations in patterns as a compiler makes them, and
 * frees in sorted batches.  LAYOUT is 0 (the smaller), 1 (rows) or 2 (columns); -p as `steptrace
 * pack`.  With one, they are those of the trace; with -c, the file's columns are told as they are,
 * and nothing is measured.  The times are the best of TIMES
 * runs, of processor time.  Reading is measured block by block, through generated readers (structs
 * of java.step), and through the definition in the trace alone.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/codec/column.h"
#include "format/core/bytes.h"
#include "format/io/memory_output.h"
#include "format/step/layout.h"
#include "format/step/plan/plan.h"
#include "steptrace/reader.h"
#include "steptrace/writer.h"
#include "tests/bench/bench.h"
#include "tests/bench/bench_readers.h"

enum { MAX_SLOTS = 16, CLASSES = 1500, SITES = 4000, SITE_LENGTH = 12, SUCCESSORS = 4 };

static const char definition_text[] =
    "package java {\n"
    "  record Class { string name; int loader <property:\"unsigned\">; }\n"
    "  record Thread { string name; int flags <property:\"unsigned\">; }\n"
    "  record Event { <property:\"event\">\n"
    "    int time <property:\"time\"> <property:\"unsigned\"> <encoding:\"delta\">;\n"
    "    Thread thread <property:\"thread\"> <encoding:\"identifier,default\">; }\n"
    "  record ObjectAlloc extends Event {\n"
    "    Class class <encoding:\"identifier\">;\n"
    "    int size <property:\"unsigned\"> <encoding:\"given=class\">;\n"
    "    int object <property:\"unsigned\"> <encoding:\"stride=1\">; }\n"
    "  record ObjectFree extends Event {\n"
    "    int object <property:\"unsigned\"> <encoding:\"delta\">; }\n"
    "}\n";

struct settings {
    uint64_t events;
    int level;
    uint32_t block_records;
    uint64_t resolution;
    uint64_t times;
    const char *path;
    enum step_write_layout layout;
    bool best;
    bool columns_alone;
};

/* Events in memory, ready to be put. */
struct event {
    uint64_t stream;
    uint32_t record;
    uint32_t first_slot;
};

struct events {
    const struct step_definition *definition;
    struct event *items;
    size_t count;
    size_t capacity;
    uint64_t *slots;
    size_t slot_count;
    size_t slot_capacity;
};

static void add(struct events *events, uint64_t stream, uint32_t record, const uint64_t *slots,
                size_t count)
{
    if (events->count == events->capacity) {
        events->capacity = events->capacity * 2 + 1024;
        events->items = must(realloc(events->items, events->capacity * sizeof *events->items));
    }
    if (events->slot_count + count > events->slot_capacity) {
        events->slot_capacity = events->slot_capacity * 2 + 4096;
        events->slots = must(realloc(events->slots, events->slot_capacity * sizeof(uint64_t)));
    }
    events->items[events->count++] = (struct event){stream, record, (uint32_t) events->slot_count};
    memcpy(events->slots + events->slot_count, slots, count * sizeof *slots);
    events->slot_count += count;
}

/* xorshift64*: the same events in every run. */
static uint64_t draw(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

/* A place in the program: the classes that it allocates one after the other, and where the program
 * goes from there. */
struct site {
    uint16_t classes[SITE_LENGTH];
    uint16_t length;
    uint16_t next[SUCCESSORS];
};

static void make_sites(struct site *sites, uint64_t *state)
{
    for (size_t i = 0; i < SITES; i++) {
        sites[i].length = (uint16_t) (1 + draw(state) % SITE_LENGTH);
        for (size_t k = 0; k < sites[i].length; k++) {
            uint64_t a = draw(state) % CLASSES;
            uint64_t b = draw(state) % CLASSES;
            sites[i].classes[k] = (uint16_t) (1 + a * b / CLASSES * (1 + a % 2) / 2);
        }
        for (size_t k = 0; k < SUCCESSORS; k++)
            sites[i].next[k] = (uint16_t) (draw(state) % SITES);
    }
}

static uint64_t size_of(uint64_t class, uint64_t *state)
{
    bool is_array = class % 16 == 0;
    return is_array ? 16 + 8 * (1 + draw(state) % 16) : 16 + 8 * (class * 7 % 9);
}

/* A collection: most objects since the last one die, in runs; some older ones too. */
static void add_frees(struct events *events, uint32_t record, uint64_t time, uint64_t from,
                      uint64_t to, uint64_t *state)
{
    for (uint64_t object = from; object < to;) {
        for (uint64_t run = 1 + draw(state) % 40; run > 0 && object < to; run--) {
            uint64_t slots[3] = {time, 0, object++};
            add(events, 1, record, slots, 3);
        }
        object += 1 + draw(state) % 6;
    }
}

static void make_events(struct events *events, const struct settings *settings)
{
    static struct site sites[SITES];
    uint64_t state = 42;
    uint32_t alloc = step_definition_find(events->definition, "java.ObjectAlloc");
    uint32_t freed = step_definition_find(events->definition, "java.ObjectFree");
    make_sites(sites, &state);
    uint64_t time_ns = 0;
    uint64_t object = 1;
    uint64_t collected = 1;
    size_t site = 0;
    while (events->count < settings->events) {
        for (size_t k = 0; k < sites[site].length; k++) {
            uint64_t class = sites[site].classes[k];
            time_ns += 60 + draw(&state) % 256 + (draw(&state) % 64 == 0 ? 4000 : 0);
            uint64_t slots[5] = {time_ns / settings->resolution, 1, class, size_of(class, &state),
                                 object++};
            add(events, 2, alloc, slots, 5);
        }
        uint64_t which = draw(&state) % 16;
        site = sites[site].next[which < 12 ? 0 : which % SUCCESSORS];
        if (object - collected > 600000) {
            add_frees(events, freed, time_ns / settings->resolution, collected, object - 20000,
                      &state);
            collected = object - 20000;
        }
    }
}

static void load_events(struct events *events, struct step_reader *reader,
                        const struct settings *settings)
{
    struct step_block *block = NULL;
    struct step_error error;
    for (size_t i = 0; i < step_reader_block_count(reader); i++) {
        check(step_reader_load(reader, i, NULL, &block, &error), &error);
        struct step_record_view view;
        uint64_t stream = step_reader_block_info(reader, i)->stream;
        while (events->count < settings->events &&
               step_block_next(block, &view) == STEP_STATUS_OK) {
            size_t count = step_record_slot_count(events->definition, view.record);
            uint64_t slots[MAX_SLOTS];
            memcpy(slots, view.slots, count * sizeof *slots);
            slots[0] /= settings->resolution;
            add(events, stream, view.record, slots, count);
        }
    }
    step_block_destroy(block);
}

static void encode(const struct events *events, const struct settings *settings,
                   struct step_buffer *file)
{
    struct step_writer_options options;
    struct step_writer *writer;
    struct step_error error;
    step_writer_options_init(&options);
    options.definition = events->definition;
    options.output = step_memory_output(file);
    options.level = settings->level;
    options.layout = settings->layout;
    if (settings->best)
        options.compression = STEP_COMPRESSION_BEST;
    options.block_records = settings->block_records;
    check(step_writer_create(&options, &writer, &error), &error);
    for (size_t i = 0; i < events->count; i++) {
        const struct event *event = &events->items[i];
        if (step_writer_put(writer, event->stream, event->record,
                            events->slots + event->first_slot) != STEP_STATUS_OK)
            break;
    }
    check(step_writer_close(writer, &error), &error);
    step_writer_destroy(writer);
}

struct way {
    const char *name;
    enum step_status (*read)(const struct step_buffer *file, struct read_tally *tally,
                             struct step_error *error);
    double best; /* seconds */
    struct read_tally tally;
};

/* Encodes, and reads back in each way, `times` times in turn. */
static void measure(const struct events *events, const struct settings *settings,
                    struct step_buffer *file)
{
    struct way ways[] = {{"blocks", read_blocks, 1e9, {0, 0}},
                         {"generated reader", read_generated, 1e9, {0, 0}},
                         {"dynamic reader", read_dynamic, 1e9, {0, 0}}};
    enum { WAYS = sizeof ways / sizeof ways[0] };
    struct step_error error;
    double count = (double) events->count;
    double encoding = 1e9;
    for (uint64_t i = 0; i < settings->times; i++) {
        file->length = 0;
        double start = now();
        encode(events, settings, file);
        double took = now() - start;
        encoding = took < encoding ? took : encoding;
        for (size_t k = 0; k < WAYS; k++) {
            start = now();
            check(ways[k].read(file, &ways[k].tally, &error), &error);
            took = now() - start;
            ways[k].best = took < ways[k].best ? took : ways[k].best;
        }
    }
    printf("%zu events, %zu bytes, %.4f bytes an event\n", events->count, file->length,
           (double) file->length / count);
    printf("encode %.1f ns an event\n", encoding * 1e9 / count);
    for (size_t k = 0; k < WAYS; k++)
        printf("decode, %-16s %5.1f ns an event (%.1f million a second), %" PRIu64
               " events, sum %" PRIu64 "\n",
               ways[k].name, ways[k].best * 1e9 / count, count / ways[k].best * 1e-6,
               ways[k].tally.records, ways[k].tally.sum);
}

struct column_total {
    uint64_t stored;
    uint64_t largest; /* of one block; its coding: */
    char coding[100];
};

static void describe(const struct step_coding *coding, char *out, size_t room)
{
    out[0] = '\0';
    for (size_t i = 0; i < coding->chain.length; i++) {
        size_t used = strlen(out);
        snprintf(out + used, room - used, "%s ", coding->chain.links[i].transform->name);
    }
    size_t used = strlen(out);
    snprintf(out + used, room - used, "%s(%" PRIu64 ")",
             coding->chain.form != NULL ? coding->chain.form->name : "bytes",
             coding->chain.form_parameter);
}

static void total_block(const uint8_t *bytes, const struct step_plan *plan,
                        struct column_total *totals)
{
    struct step_block_header header;
    uint64_t length;
    uint64_t count;
    struct step_coding coding;
    if (!step_block_header_unpack(bytes, &header))
        return;
    if (header.layout != STEP_LAYOUT_COLUMNS) {
        totals[plan->column_count + 1].stored += header.payload_bytes + STEP_BLOCK_HEADER_BYTES;
        return;
    }
    struct step_cursor directory =
        step_cursor_of(bytes + STEP_BLOCK_HEADER_BYTES, (size_t) header.payload_bytes);
    directory.at += header.summary_bytes;
    step_cursor_varint(&directory, &length);
    totals[plan->column_count + 1].stored += length + STEP_BLOCK_HEADER_BYTES;
    step_coding_parse(&directory, &coding);
    totals[plan->column_count].stored += coding.stored_length;
    step_cursor_varint(&directory, &count);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t record = 0;
        uint64_t field = 0;
        uint64_t leaf = 0;
        step_cursor_varint(&directory, &record);
        step_cursor_varint(&directory, &field);
        step_cursor_varint(&directory, &leaf);
        step_coding_parse(&directory, &coding);
        struct column_total *total = &totals[step_plan_find_column(plan, record, field, leaf)];
        if (coding.stored_length >= total->largest) {
            total->largest = coding.stored_length;
            describe(&coding, total->coding, sizeof total->coding);
        }
        total->stored += coding.stored_length;
    }
}

static void report_columns(const struct step_buffer *file, const struct step_definition *definition,
                           size_t events)
{
    struct step_reader *reader;
    struct step_plan *plan;
    struct step_error error;
    check(step_plan_create(definition, &plan, &error), &error);
    struct column_total *totals = must(calloc(plan->column_count + 2u, sizeof *totals));
    check(step_reader_open_memory(file->data, file->length, "memory", &reader, &error), &error);
    for (size_t i = 0; i < step_reader_block_count(reader); i++)
        total_block(file->data + step_reader_block_info(reader, i)->offset, plan, totals);
    for (size_t i = 0; i < plan->column_count + 2u; i++) {
        char name[128] = "(record types)";
        if (i < plan->column_count) {
            const struct step_record *record = &definition->records[plan->columns[i].record];
            snprintf(name, sizeof name, "%s.%s", record->name,
                     record->fields[plan->columns[i].field].name);
        } else if (i > plan->column_count) {
            snprintf(name, sizeof name, "(headers, directories, rows)");
        }
        if (totals[i].stored > 0)
            printf("  %-28s %9" PRIu64 " bytes  %.4f an event  %s\n", name, totals[i].stored,
                   (double) totals[i].stored / (double) events, totals[i].coding);
    }
    free(totals);
    step_plan_destroy(plan);
    step_reader_destroy(reader);
}

static void load_file(const char *path, size_t length, struct step_buffer *file)
{
    FILE *in = must(fopen(path, "rb"));
    if (!step_buffer_reserve(file, length) || fread(file->data, 1, length, in) != length)
        exit(1);
    file->length = length;
    fclose(in);
}

static size_t count_events(const struct step_reader *reader)
{
    size_t count = 0;
    for (size_t i = 0; i < step_reader_block_count(reader); i++)
        count += (size_t) step_reader_block_info(reader, i)->record_count;
    return count;
}

static struct settings read_settings(int argc, char **argv)
{
    struct settings settings = {5000000, 0, 0, 1, 3, NULL, STEP_WRITE_SMALLEST, false, false};
    int option;
    bool resolution = false;
    while ((option = getopt(argc, argv, "n:l:b:r:t:L:pc")) != -1) {
        uint64_t value = optarg != NULL ? strtoull(optarg, NULL, 10) : 0;
        if (option == 'n')
            settings.events = value;
        else if (option == 'l')
            settings.level = (int) strtol(optarg, NULL, 10);
        else if (option == 'b')
            settings.block_records = (uint32_t) value;
        else if (option == 't')
            settings.times = value;
        else if (option == 'L' && value <= STEP_WRITE_COLUMNS)
            settings.layout = (enum step_write_layout) value;
        else if (option == 'p')
            settings.best = true;
        else if (option == 'c')
            settings.columns_alone = true;
        else if (option == 'r' && value > 0)
            resolution = (settings.resolution = value) > 0;
        else
            exit(2);
    }
    settings.path = optind < argc ? argv[optind] : NULL;
    if (settings.path == NULL && !resolution)
        settings.resolution = 1000;
    return settings;
}

int main(int argc, char **argv)
{
    struct settings settings = read_settings(argc, argv);
    struct events events = {0};
    struct step_reader *reader = NULL;
    struct step_definition *definition = NULL;
    struct step_error error;
    if (settings.path != NULL) {
        check(step_reader_open(settings.path, &reader, &error), &error);
        events.definition = step_reader_borrow_definition(reader);
        if (!settings.columns_alone)
            load_events(&events, reader, &settings);
    } else {
        check(step_definition_parse(definition_text, sizeof definition_text - 1, "java", NULL, NULL,
                                    &definition, &error),
              &error);
        events.definition = definition;
        make_events(&events, &settings);
    }
    struct step_buffer file = {0};
    if (reader != NULL && settings.columns_alone) {
        load_file(settings.path, (size_t) step_reader_file_size(reader), &file);
        events.count = count_events(reader);
    } else {
        measure(&events, &settings, &file);
    }
    report_columns(&file, events.definition, events.count);
    step_buffer_reset(&file);
    free(events.items);
    free(events.slots);
    step_reader_destroy(reader);
    step_definition_destroy(definition);
    return 0;
}
