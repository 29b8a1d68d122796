/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_strategies [VALUES]: what each encoding attribute costs and saves, as the table in
 * docs/formats/step.md.  For each, values that it is made for go into records of one field, without
 * and with the attribute, in rows and in columns, both compressed as usual; a record beside them
 * makes no difference.  Times are of processor time, of writing and reading, beside those of the
 * same values without the attribute.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/io/memory_output.h"
#include "steptrace/reader.h"
#include "steptrace/writer.h"
#include "tests/bench/bench.h"

enum { NAME_BYTES = 48, TIMES = 3 };

static uint64_t state;

static uint64_t draw(void)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * UINT64_C(0x2545f4914f6cdd1d);
}

/* Patterns: the values of `slots` records of two ints, of which the second is looked at. */
struct values {
    uint64_t (*slots)[2];
    size_t count;
    char (*names)[NAME_BYTES]; /* of patterns of strings */
    struct step_bytes *strings;
};

static void fill_rare(struct values *values)
{
    for (size_t i = 0; i < values->count; i++)
        values->slots[i][1] = draw() % 100 == 0 ? draw() % 1000 : 7;
}

static void fill_constant(struct values *values)
{
    for (size_t i = 0; i < values->count; i++)
        values->slots[i][1] = 123456789;
}

static void fill_few(struct values *values)
{
    for (size_t i = 0; i < values->count; i++)
        values->slots[i][1] = (draw() % 60 * (draw() % 60) / 60) * UINT64_C(0x123456789abc);
}

static void fill_near(struct values *values)
{
    uint64_t last = UINT64_C(0x7f0000000000);
    for (size_t i = 0; i < values->count; i++)
        values->slots[i][1] = last += draw() % 200 == 0 ? draw() % 1000000 : draw() % 100;
}

static void fill_stride(struct values *values)
{
    uint64_t last = 0;
    for (size_t i = 0; i < values->count; i++)
        values->slots[i][1] = last += draw() % 100 == 0 ? draw() % 1000 : 16;
}

static void fill_cluster(struct values *values)
{
    for (size_t i = 0; i < values->count; i++)
        values->slots[i][1] = UINT64_C(1000000000) - 50 + draw() % 100;
}

static void fill_window(struct values *values)
{
    uint64_t base = 0;
    for (size_t i = 0; i < values->count; i++) {
        base = draw() % 500 == 0 ? draw() >> 20 : base;
        values->slots[i][1] = base + draw() % 60;
    }
}

static void fill_given(struct values *values)
{
    for (size_t i = 0; i < values->count; i++) {
        values->slots[i][0] = draw() % 200;
        values->slots[i][1] =
            draw() % 50 == 0 ? draw() % 4096 : values->slots[i][0] * 2654435761u % 4096;
    }
}

static void fill_context(struct values *values)
{
    uint64_t a = 0, b = 1;
    for (size_t i = 0; i < values->count; i++) {
        uint64_t next = draw() % 8 == 0 ? draw() % 250 : (a * 31 + b * 17 + 5) % 250;
        a = b;
        values->slots[i][1] = b = next;
    }
}

static void fill_climbing(struct values *values)
{
    static const uint64_t steps[] = {8, 24, 8, 120, 40, 8, 16, 400};
    uint64_t last = 0;
    for (size_t i = 0; i < values->count; i++)
        values->slots[i][1] = last += draw() % 100 == 0 ? draw() % 5000 : steps[i % 8];
}

static void fill_recent(struct values *values)
{
    uint64_t last[4] = {1, 2, 3, 4};
    for (size_t i = 0; i < values->count; i++) {
        size_t place = draw() % 4;
        if (draw() % 50 == 0)
            last[place] = draw() >> 40;
        values->slots[i][1] = last[place];
    }
}

static void fill_sequence(struct values *values)
{
    uint64_t last = 1000;
    for (size_t i = 0; i < values->count; i++)
        values->slots[i][1] = last += 1 + (draw() % 50 == 0 ? draw() % 6 : 0);
}

/* Collections: of what is there a part dies, in runs, in ascending order. */
static void fill_live(struct values *values)
{
    bool *dead = calloc(values->count + 1, sizeof *dead);
    size_t made = 0, n = 0;
    while (dead != NULL && n < values->count) {
        made += 20000;
        made = made < values->count ? made : values->count;
        bool dies = false;
        for (size_t id = 0; id < made && n < values->count; id++) {
            dies = draw() % 12 == 0 ? !dies : dies;
            if (dead[id] || (!dies && made < values->count))
                continue;
            dead[id] = true;
            values->slots[n++][1] = id + 1;
        }
    }
    free(dead);
}

static void fill_micros(struct values *values)
{
    uint64_t last = 0;
    for (size_t i = 0; i < values->count; i++)
        values->slots[i][1] = last += 40 + draw() % 200;
}

static void fill_small(struct values *values)
{
    for (size_t i = 0; i < values->count; i++)
        values->slots[i][1] = draw() % 250;
}

static void fill_names(struct values *values)
{
    for (size_t i = 0; i < values->count; i++)
        snprintf(values->names[i], NAME_BYTES, "spec/benchmarks/javac/Expression%" PRIu64,
                 draw() % 60 * (draw() % 60) / 6);
}

static void fill_paths(struct values *values)
{
    for (size_t i = 0; i < values->count; i++)
        snprintf(values->names[i], NAME_BYTES, "/usr/share/doc/pack-%06zu/%" PRIx64, i / 8,
                 draw() % 4096);
}

static const struct strategy {
    const char *attribute;
    const char *type;
    void (*fill)(struct values *values);
    const char *what;
} strategies[] = {
    {"constant", "int", fill_constant, "one value"},
    {"default", "int", fill_rare, "one value in 99 of 100"},
    {"identifier", "int", fill_few, "some 60 addresses, uneven"},
    {"delta=100", "int", fill_near, "steps below 100, 1 in 200 large"},
    {"stride=16", "int", fill_stride, "steps of 16, 1 in 100 another"},
    {"offset=1000000000", "int", fill_cluster, "within 50 of a value"},
    {"window=64", "int", fill_window, "60 values above a base that jumps"},
    {"size=1,unsigned", "int", fill_small, "below 250"},
    {"given=k", "int", fill_given, "the same for the same k, 1 in 50 not"},
    {"context=2", "int", fill_context, "follow from the two before, 1 in 8 not"},
    {"dfcm=2", "int", fill_climbing, "8 steps over and over, 1 in 100 another"},
    {"recent=4", "int", fill_recent, "4 values that change at times"},
    {"sequence", "int", fill_sequence, "the next number, 1 in 50 beyond"},
    {"live", "int", fill_live, "ids that die in batches"},
    {"resolution=1000,delta", "int", fill_micros, "ns kept as us; beside `delta`"},
    {"identifier", "string", fill_names, "some 500 names, uneven"},
    {"prefix", "string", fill_paths, "paths, 8 to a directory"},
};

struct outcome {
    double bytes, write_ns, read_ns; /* a record */
};

static double write_all(const struct step_definition *definition, const struct values *values,
                        enum step_write_layout layout, struct step_buffer *file)
{
    struct step_writer_options options;
    struct step_writer *writer;
    struct step_error error = {0};
    step_writer_options_init(&options);
    options.definition = definition;
    options.output = step_memory_output(file);
    options.layout = layout;
    file->length = 0;
    double start = now();
    check(step_writer_create(&options, &writer, &error), &error);
    for (size_t i = 0; i < values->count; i++)
        if (step_writer_put(writer, 0, 0, values->slots[i]) != STEP_STATUS_OK)
            break;
    check(step_writer_close(writer, &error), &error);
    step_writer_destroy(writer);
    return now() - start;
}

static double read_all(const struct step_buffer *file, uint64_t *sum)
{
    struct step_reader *reader;
    struct step_block *block = NULL;
    struct step_error error = {0};
    double start = now();
    check(step_reader_open_memory(file->data, file->length, "memory", &reader, &error), &error);
    for (size_t i = 0; i < step_reader_block_count(reader); i++) {
        struct step_record_view view;
        check(step_reader_load(reader, i, NULL, &block, &error), &error);
        while (step_block_next(block, &view) == STEP_STATUS_OK)
            *sum += view.slots[0];
    }
    step_block_destroy(block);
    step_reader_destroy(reader);
    return now() - start;
}

static struct outcome measure(const struct strategy *strategy, const char *attribute,
                              const struct values *values, enum step_write_layout layout)
{
    struct step_definition *definition;
    struct step_error error = {0};
    struct step_buffer file = {0};
    struct outcome outcome = {0, 1e9, 1e9};
    char text[160];
    uint64_t sum = 0;
    double count = (double) values->count;
    snprintf(text, sizeof text, "record R { int k <encoding:\"constant,unsigned\">; %s v %s%s%s; }",
             strategy->type, attribute[0] != '\0' ? "<encoding:\"" : "", attribute,
             attribute[0] != '\0' ? "\">" : "");
    if (strategy->fill == fill_given)
        snprintf(text, sizeof text, "record R { int k; int v <encoding:\"%s\">; }", attribute);
    check(step_definition_parse(text, strlen(text), "text", NULL, NULL, &definition, &error),
          &error);
    for (int i = 0; i < TIMES; i++) {
        double wrote = write_all(definition, values, layout, &file) * 1e9 / count;
        double read = read_all(&file, &sum) * 1e9 / count;
        outcome.write_ns = wrote < outcome.write_ns ? wrote : outcome.write_ns;
        outcome.read_ns = read < outcome.read_ns ? read : outcome.read_ns;
    }
    outcome.bytes = (double) file.length / count;
    step_buffer_reset(&file);
    step_definition_destroy(definition);
    return outcome;
}

static void report(const struct strategy *strategy, struct values *values)
{
    static const enum step_write_layout layouts[] = {STEP_WRITE_ROWS, STEP_WRITE_COLUMNS};
    state = 42;
    memset(values->slots, 0, values->count * sizeof *values->slots);
    strategy->fill(values);
    for (size_t i = 0; strcmp(strategy->type, "string") == 0 && i < values->count; i++) {
        values->strings[i] =
            (struct step_bytes){(const uint8_t *) values->names[i], strlen(values->names[i])};
        values->slots[i][1] = step_slot_of_bytes(&values->strings[i]);
    }
    const char *without = strategy->fill == fill_micros ? "delta" : "";
    printf("| `%s`%s | %s |", strategy->attribute,
           strcmp(strategy->type, "int") == 0 ? "" : " (string)", strategy->what);
    for (size_t i = 0; i < 2; i++) {
        struct outcome plain = measure(strategy, without, values, layouts[i]);
        struct outcome with = measure(strategy, strategy->attribute, values, layouts[i]);
        printf(" %.3f → %.3f | %.0f → %.0f | %.0f → %.0f |", plain.bytes, with.bytes,
               plain.write_ns, with.write_ns, plain.read_ns, with.read_ns);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    struct values values = {.count = argc > 1 ? (size_t) strtoull(argv[1], NULL, 10) : 500000};
    values.slots = calloc(values.count + 1, sizeof *values.slots);
    values.names = calloc(values.count + 1, sizeof *values.names);
    values.strings = calloc(values.count + 1, sizeof *values.strings);
    if (values.slots == NULL || values.names == NULL || values.strings == NULL)
        return 1;
    printf("| attribute | values | rows: bytes | write, ns | read, ns "
           "| columns: bytes | write, ns | read, ns |\n|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof strategies / sizeof strategies[0]; i++)
        report(&strategies[i], &values);
    free(values.slots);
    free(values.names);
    free(values.strings);
    return 0;
}
