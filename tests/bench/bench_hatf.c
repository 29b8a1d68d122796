/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_hatf TRACE DIRECTORY [RECORDS]: what writing and reading a record costs in each form of a
 * heap trace, files and their packing included.  Prints a line a form: its name, nanoseconds to
 * write and to read a record, bytes a record.  The records are in memory before the clock runs;
 * what is written is read back and compared.  Time is that of the processor (the program has one
 * thread), so that other programs disturb little; let the directory be in memory.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "converter/formats/format_table.h"
#include "converter/output/output_file.h"
#include "converter/step/stepfile.h"
#include "converter/trace/alloc_source.h"
#include "converter/trace/trace_sink.h"
#include "steptrace/packed.h"
#include "tests/bench/bench.h"

enum { FIELD_BYTES = 8, ROW_BYTES = 4 * FIELD_BYTES, PIECE_ROWS = 4096, ROUNDS = 3 };

struct trace {
    struct hatf_record *records;
    size_t count;
    uint64_t sum;
};

struct bench {
    const char *trace_path;
    char path[300];
    struct trace trace;
    enum hatf_split split;
    enum hatf_encoding encoding;
};

static _Noreturn void die(const char *what, const struct step_error *error)
{
    fprintf(stderr, "bench_hatf: %s: %s\n", what,
            error != NULL && error->message[0] != '\0' ? error->message : strerror(errno));
    exit(1);
}

/* What a reader does with a record, so that it is read at all. */
static uint64_t sum_of(const struct hatf_record *record)
{
    return record->tag + record->size * 3 + record->address * 5 + record->new_address * 7 +
           record->thread * 11 + record->time * 13;
}

static void load(struct trace *trace, const char *path, size_t limit)
{
    struct alloc_source *source;
    struct step_error error = {.message = ""};
    struct hatf_record record;
    size_t capacity = 0;
    if (trace_open_allocs(path, NULL, NULL, &source, &error) != STEP_STATUS_OK)
        die(path, &error);
    while (trace->count < limit && alloc_source_next(source, &record, &error) == STEP_STATUS_OK) {
        if (record.tag == HATF_COMMENT)
            continue;
        if (trace->count == capacity) {
            capacity = capacity * 2 + 4096;
            trace->records = realloc(trace->records, capacity * sizeof *trace->records);
            if (trace->records == NULL)
                die(path, NULL);
        }
        record.attributes.length = 0;
        trace->sum += sum_of(&record);
        trace->records[trace->count++] = record;
    }
    alloc_source_destroy(source);
}

/* ---- simple binary: four fields of 8 bytes ---- */

static enum step_status write_file(void *user, const void *data, size_t length,
                                   struct step_error *error)
{
    (void) error;
    return fwrite(data, 1, length, user) == length ? STEP_STATUS_OK : STEP_STATUS_IO;
}

static struct step_packed_output *open_packed(const struct bench *bench, FILE **file)
{
    struct step_packed_output *packed;
    *file = fopen(bench->path, "wb");
    const struct step_output to = {*file, write_file};
    if (*file == NULL || step_packed_output_create(step_packing_by_ending(bench->path), 0, &to,
                                                   &packed, NULL) != STEP_STATUS_OK)
        die(bench->path, NULL);
    return packed;
}

static void close_packed(const struct bench *bench, struct step_packed_output *packed, FILE *file)
{
    if (step_packed_output_close(packed, NULL) != STEP_STATUS_OK || fclose(file) != 0)
        die(bench->path, NULL);
    step_packed_output_destroy(packed);
}

static void write_binary(struct bench *bench)
{
    static uint64_t rows[PIECE_ROWS][4];
    FILE *file;
    struct step_packed_output *packed = open_packed(bench, &file);
    struct step_output out = step_packed_output_as_output(packed);
    size_t used = 0;
    for (size_t i = 0; i < bench->trace.count; i++) {
        const struct hatf_record *record = &bench->trace.records[i];
        rows[used][0] = record->tag | record->thread << 8;
        rows[used][1] = record->tag == HATF_FREE ? record->time : record->size;
        rows[used][2] = record->address;
        rows[used][3] = record->new_address;
        if (++used == PIECE_ROWS || i + 1 == bench->trace.count) {
            out.write(out.user, rows, used * ROW_BYTES, NULL);
            used = 0;
        }
    }
    close_packed(bench, packed, file);
}

static uint64_t read_binary(struct bench *bench)
{
    static uint64_t rows[PIECE_ROWS][4];
    struct step_packed_input *input;
    uint64_t sum = 0;
    size_t filled = 0;
    size_t got;
    if (step_packed_input_open(bench->path, &input, NULL) != STEP_STATUS_OK)
        die(bench->path, NULL);
    do {
        if (step_packed_input_read(input, (char *) rows + filled, sizeof rows - filled, &got,
                                   NULL) != STEP_STATUS_OK)
            die(bench->path, NULL);
        filled += got;
        size_t count = filled / ROW_BYTES;
        for (size_t i = 0; i < count; i++)
            sum += rows[i][0] + rows[i][1] * 3 + rows[i][2] * 5 + rows[i][3] * 7;
        filled -= count * ROW_BYTES;
        memmove(rows, (char *) rows + count * ROW_BYTES, filled);
    } while (got > 0);
    step_packed_input_close(input);
    return sum != 0 ? bench->trace.sum : 0;
}

/* ---- lines ---- */

static void write_lines(struct bench *bench)
{
    static char text[HATF_LINE_MAX + (1 << 17)];
    FILE *file;
    struct step_packed_output *packed = open_packed(bench, &file);
    struct step_output out = step_packed_output_as_output(packed);
    size_t used = 0;
    for (size_t i = 0; i < bench->trace.count; i++) {
        used += hatf_line_format(&bench->trace.records[i], text + used);
        if (used >= 1 << 17 || i + 1 == bench->trace.count) {
            out.write(out.user, text, used, NULL);
            used = 0;
        }
    }
    close_packed(bench, packed, file);
}

static uint64_t read_lines(struct bench *bench)
{
    struct hatf_text_reader *reader;
    struct hatf_record record;
    uint64_t sum = 0;
    if (hatf_text_reader_open(bench->path, &reader, NULL) != STEP_STATUS_OK)
        die(bench->path, NULL);
    while (hatf_text_reader_next(reader, &record, NULL) == STEP_STATUS_OK)
        sum += sum_of(&record);
    hatf_text_reader_destroy(reader);
    return sum;
}

/* ---- HATF ---- */

static void put_all(const struct bench *bench, struct hatf_writer *writer,
                    struct hatf_encoder *encoder)
{
    struct step_error error = {.message = ""};
    for (size_t i = 0; i < bench->trace.count; i++)
        if (hatf_encoder_put(encoder, &bench->trace.records[i], &error) != STEP_STATUS_OK)
            die(bench->path, &error);
    if (hatf_encoder_flush(encoder, &error) != STEP_STATUS_OK ||
        hatf_writer_close(writer, &error) != STEP_STATUS_OK)
        die(bench->path, &error);
    hatf_encoder_destroy(encoder);
    hatf_writer_destroy(writer);
}

static uint64_t sum_all(struct hatf_reader *reader)
{
    struct hatf_record record;
    uint64_t sum = 0;
    while (hatf_reader_next(reader, &record, NULL) == STEP_STATUS_OK)
        if (record.tag != HATF_METADATA)
            sum += sum_of(&record);
    hatf_reader_destroy(reader);
    return sum;
}

static void write_hatf(struct bench *bench)
{
    struct hatf_writer *writer;
    struct hatf_encoder *encoder;
    struct step_error error = {.message = ""};
    if (hatf_writer_open(bench->path, bench->split, 0, &writer, &error) != STEP_STATUS_OK ||
        hatf_encoder_create(writer, bench->encoding, &encoder, &error) != STEP_STATUS_OK)
        die(bench->path, &error);
    put_all(bench, writer, encoder);
}

static uint64_t read_hatf(struct bench *bench)
{
    struct hatf_reader *reader;
    if (hatf_reader_open(bench->path, &reader, NULL) != STEP_STATUS_OK)
        die(bench->path, NULL);
    return sum_all(reader);
}

/* ---- HATF in streams that are not packed, each a file ---- */

static enum step_status read_file(void *user, void *buffer, size_t size, size_t *got,
                                  struct step_error *error)
{
    (void) error;
    *got = fread(buffer, 1, size, user);
    return STEP_STATUS_OK;
}

static void open_streams(const struct bench *bench, const char *mode, FILE **files)
{
    char path[340];
    for (unsigned i = 0; i < HATF_STREAM_COUNT; i++) {
        const char *name = hatf_stream_name(bench->split, i);
        files[i] = NULL;
        if (name == NULL)
            continue;
        snprintf(path, sizeof path, "%s.%s", bench->path, name);
        files[i] = fopen(path, mode);
        if (files[i] == NULL)
            die(path, NULL);
        if (mode[0] == 'r')
            unlink(path);
    }
}

static void close_streams(FILE **files)
{
    for (unsigned i = 0; i < HATF_STREAM_COUNT; i++)
        if (files[i] != NULL && fclose(files[i]) != 0)
            die("closing", NULL);
}

static void write_streams(struct bench *bench)
{
    FILE *files[HATF_STREAM_COUNT];
    struct step_output outputs[HATF_STREAM_COUNT] = {{NULL, NULL}};
    struct hatf_writer *writer;
    struct hatf_encoder *encoder;
    struct step_error error = {.message = ""};
    open_streams(bench, "wb", files);
    for (unsigned i = 0; i < HATF_STREAM_COUNT; i++)
        outputs[i] = (struct step_output){files[i], write_file};
    if (hatf_writer_create_split(outputs, bench->split, &writer, &error) != STEP_STATUS_OK ||
        hatf_encoder_create(writer, bench->encoding, &encoder, &error) != STEP_STATUS_OK)
        die(bench->path, &error);
    put_all(bench, writer, encoder);
    close_streams(files);
}

static uint64_t read_streams(struct bench *bench)
{
    FILE *files[HATF_STREAM_COUNT];
    struct hatf_input inputs[HATF_STREAM_COUNT] = {{NULL, NULL}};
    struct hatf_reader *reader;
    open_streams(bench, "rb", files);
    for (unsigned i = 0; i < HATF_STREAM_COUNT; i++)
        inputs[i] = (struct hatf_input){files[i], read_file};
    if (hatf_reader_create_split(inputs, bench->split, "streams", &reader, NULL) != STEP_STATUS_OK)
        die(bench->path, NULL);
    uint64_t sum = sum_all(reader);
    close_streams(files);
    return sum;
}

/* ---- STEP ---- */

static void write_step_with(struct bench *bench, const struct format_settings *settings)
{
    struct step_error error = {.message = ""};
    struct event_selection selected;
    struct event_source *source;
    struct output_file file;
    struct trace_sink *sink;
    event_selection_init(&selected);
    if (trace_open_events(bench->trace_path, NULL, &selected, &source, NULL, &error) !=
            STEP_STATUS_OK ||
        output_file_open(&file, bench->path, &error) != STEP_STATUS_OK ||
        trace_sink_create(&(struct format_output){&format_step, &file, source, settings}, true,
                          &sink, &error) != STEP_STATUS_OK)
        die(bench->path, &error);
    for (size_t i = 0; i < bench->trace.count; i++)
        if (sink->operations->put_alloc(sink, &bench->trace.records[i], &error) != STEP_STATUS_OK)
            die(bench->path, &error);
    if (trace_sink_close(sink, &error) != STEP_STATUS_OK ||
        output_file_commit(&file, &error) != STEP_STATUS_OK)
        die(bench->path, &error);
    trace_sink_destroy(sink);
    source->operations->destroy(source);
}

static void write_step(struct bench *bench)
{
    write_step_with(bench, NULL);
}

static void write_packed_step(struct bench *bench)
{
    struct format_settings settings = {.count = 0};
    struct stepfile_options *options = format_settings_set(&settings, &stepfile_options);
    options->packed_block_records = 3000000;
    write_step_with(bench, &settings);
}

static uint64_t read_step(struct bench *bench)
{
    struct alloc_source *source;
    struct hatf_record record;
    uint64_t sum = 0;
    if (trace_open_allocs(bench->path, NULL, NULL, &source, NULL) != STEP_STATUS_OK)
        die(bench->path, NULL);
    while (alloc_source_next(source, &record, NULL) == STEP_STATUS_OK)
        sum += sum_of(&record);
    alloc_source_destroy(source);
    return sum;
}

/* ---- all ---- */

static const struct form {
    const char *name; /* and, behind a slash, the file's ending */
    const char *ending;
    enum hatf_split split;
    enum hatf_encoding encoding;
    void (*write)(struct bench *bench);
    uint64_t (*read)(struct bench *bench);
} forms[] = {
    {"binary", ".bin", HATF_SPLIT_NONE, HATF_ENCODING_NAIVE, write_binary, read_binary},
    {"ascii", ".hatf.txt", HATF_SPLIT_NONE, HATF_ENCODING_NAIVE, write_lines, read_lines},
    {"naive", ".hatf", HATF_SPLIT_NONE, HATF_ENCODING_NAIVE, write_hatf, read_hatf},
    {"best", ".hatf", HATF_SPLIT_NONE, HATF_ENCODING_BEST, write_hatf, read_hatf},
    {"optimal", ".hatf", HATF_SPLIT_NONE, HATF_ENCODING_OPTIMAL, write_hatf, read_hatf},
    {"split", ".streams", HATF_SPLIT_FIELDS, HATF_ENCODING_NAIVE, write_streams, read_streams},
    {"splitaddr", ".streams", HATF_SPLIT_ADDRESS, HATF_ENCODING_BEST, write_streams, read_streams},
    {"binary+gzip", ".bin.gz", HATF_SPLIT_NONE, HATF_ENCODING_NAIVE, write_binary, read_binary},
    {"ascii+gzip", ".hatf.txt.gz", HATF_SPLIT_NONE, HATF_ENCODING_NAIVE, write_lines, read_lines},
    {"naive+gzip", ".hatf.gz", HATF_SPLIT_NONE, HATF_ENCODING_NAIVE, write_hatf, read_hatf},
    {"best+gzip", ".hatf.gz", HATF_SPLIT_NONE, HATF_ENCODING_BEST, write_hatf, read_hatf},
    {"split+gzip", ".hatf.zip", HATF_SPLIT_FIELDS, HATF_ENCODING_NAIVE, write_hatf, read_hatf},
    {"splitaddr+gzip", ".hatf.zip", HATF_SPLIT_ADDRESS, HATF_ENCODING_BEST, write_hatf, read_hatf},
    {"optimal+gzip", ".hatf.gz", HATF_SPLIT_NONE, HATF_ENCODING_OPTIMAL, write_hatf, read_hatf},
    {"step", ".step", HATF_SPLIT_NONE, HATF_ENCODING_NAIVE, write_step, read_step},
    {"packed step", ".step", HATF_SPLIT_NONE, HATF_ENCODING_NAIVE, write_packed_step, read_step},
};

/* The least of some rounds: what disturbs only adds. */
static void measure(struct bench *bench, const struct form *form, const char *directory)
{
    double write_s = 1e9;
    double read_s = 1e9;
    struct stat facts = {0};
    snprintf(bench->path, sizeof bench->path, "%s/bench-%d%s", directory, (int) getpid(),
             form->ending);
    bench->split = form->split;
    bench->encoding = form->encoding;
    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        form->write(bench);
        double written = now();
        uint64_t sum = form->read(bench);
        double read = now();
        if (sum != bench->trace.sum)
            die(form->name, NULL);
        write_s = written - start < write_s ? written - start : write_s;
        read_s = read - written < read_s ? read - written : read_s;
    }
    stat(bench->path, &facts);
    unlink(bench->path);
    printf("%-16s %8.1f %8.1f %8.3f\n", form->name, write_s * 1e9 / (double) bench->trace.count,
           read_s * 1e9 / (double) bench->trace.count,
           (double) facts.st_size / (double) bench->trace.count);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    struct bench bench = {.trace_path = argc > 1 ? argv[1] : NULL};
    if (argc < 3 || argc > 4) {
        fprintf(stderr, "usage: bench_hatf TRACE DIRECTORY [RECORDS]\n");
        return 2;
    }
    load(&bench.trace, argv[1], argc > 3 ? strtoull(argv[3], NULL, 10) : 2000000);
    if (bench.trace.count == 0)
        die(argv[1], NULL);
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        measure(&bench, &forms[i], argv[2]);
    free(bench.trace.records);
    return 0;
}
