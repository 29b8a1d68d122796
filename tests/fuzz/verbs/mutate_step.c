/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutate_step plain IN OUT [rows]   a copy whose blocks are not compressed
 * mutate_step change SEED IN OUT    some bytes changed, and all checksums made good
 * mutate_step every SEED IN OUT     all of it, entries and records of every type of its definition
 * with any values between
 *
 * Together: changes that readers see, behind checksums that are right.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/records/copy_trace.h"
#include "format/step/layout.h"
#include "tests/fuzz/step/seal.h"
#include "tests/unit/format/definitions/values.h"

#define ROUNDS 12u

/* Writes entries and records that the writer takes; ids are of entries that the trace has, or are
 * not. */
static void put_every_type(const struct step_definition *definition, uint64_t seed,
                           struct step_writer *writer)
{
    for (uint64_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < definition->record_count; i++)
            step_writer_define(writer, i, values_make(definition, i, seed + round * 1000 + i),
                               NULL);
        for (uint32_t i = 0; i < definition->record_count; i++)
            step_writer_put(writer, round % 3, i,
                            values_make(definition, i, seed + round * 999 + i));
    }
}

/* Copies a trace without compression; `seed`, unless it is NULL, adds records of every type. */
static int copy_plain(const char *from, const char *to, struct step_writer_options *options,
                      const uint64_t *seed)
{
    struct step_reader *reader = NULL;
    struct step_writer *writer = NULL;
    struct step_error error = {.offset = STEP_NO_OFFSET};
    uint64_t records;
    enum step_status status = step_reader_open(from, &reader, &error);
    if (status == STEP_STATUS_OK) {
        options->definition = step_reader_borrow_definition(reader);
        options->compression = STEP_COMPRESSION_NONE;
        status = step_writer_open(to, options, &writer, &error);
    }
    if (status == STEP_STATUS_OK)
        status = stepfile_copy(reader, writer, &records, &error);
    if (status == STEP_STATUS_OK && seed != NULL)
        put_every_type(options->definition, *seed, writer);
    if (status == STEP_STATUS_OK)
        status = step_writer_close(writer, &error);
    step_writer_destroy(writer);
    step_reader_destroy(reader);
    values_release();
    if (status != STEP_STATUS_OK)
        fprintf(stderr, "%s: %s\n", from, error.message);
    return status != STEP_STATUS_OK;
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Single bytes, mostly: odd values, bits, neighbours. */
static void change(uint8_t *bytes, size_t length, uint64_t seed)
{
    static const uint8_t odd[] = {0, 1, 0x7f, 0x80, 0xff, 0xfe, 0x40, 0x3f};
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    size_t count = 1 + next_random(&state) % 6;
    for (size_t i = 0; i < count && length > STEP_FILE_HEADER_BYTES; i++) {
        size_t at = STEP_FILE_HEADER_BYTES +
                    (size_t) (next_random(&state) % (length - STEP_FILE_HEADER_BYTES));
        uint64_t value = next_random(&state);
        if (value % 3 == 0)
            bytes[at] = odd[value / 3 % sizeof odd];
        else if (value % 3 == 1)
            bytes[at] ^= (uint8_t) (1u << value / 3 % 8);
        else
            bytes[at] = (uint8_t) (bytes[at] + 1);
    }
}

static int change_file(uint64_t seed, const char *from, const char *to)
{
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    size_t room = (size_t) 1 << 24;
    uint8_t *bytes = malloc(room);
    int failed = 1;
    if (in != NULL && out != NULL && bytes != NULL) {
        size_t length = fread(bytes, 1, room, in);
        change(bytes, length, seed);
        seal_trace(bytes, length);
        failed = fwrite(bytes, 1, length, out) != length;
    }
    free(bytes);
    if (in != NULL)
        fclose(in);
    if (out != NULL)
        failed |= fclose(out) != 0;
    return failed;
}

int main(int argc, char **argv)
{
    struct step_writer_options options;
    step_writer_options_init(&options);
    if (argc >= 4 && strcmp(argv[1], "plain") == 0) {
        options.layout = argc > 4 ? STEP_WRITE_ROWS : STEP_WRITE_COLUMNS;
        return copy_plain(argv[2], argv[3], &options, NULL);
    }
    if (argc == 5 && strcmp(argv[1], "change") == 0)
        return change_file(strtoull(argv[2], NULL, 10), argv[3], argv[4]);
    if (argc == 5 && strcmp(argv[1], "every") == 0) {
        uint64_t seed = strtoull(argv[2], NULL, 10);
        return copy_plain(argv[3], argv[4], &options, &seed);
    }
    fprintf(stderr,
            "usage: mutate_step plain IN OUT [rows] | change SEED IN OUT | every SEED IN OUT\n");
    return 2;
}
