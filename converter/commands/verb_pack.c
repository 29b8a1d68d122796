/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steptrace pack: rewrites a trace in less space.  Writes one stream after the other, in the
 * largest blocks that readers which merge all streams can afford.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>

#include "converter/cli/error_report.h"
#include "converter/cli/given_definition.h"
#include "converter/cli/memory_limit.h"
#include "converter/cli/verb.h"
#include "converter/files/sampled_trace.h"
#include "converter/files/trace_files.h"
#include "converter/files/trace_gap.h"
#include "converter/files/trace_reader.h"
#include "converter/formats/format_table.h"
#include "converter/formats/input.h"
#include "converter/formats/pour.h"
#include "converter/output/trace_output.h"
#include "converter/records/copy_trace.h"
#include "converter/step/stepfile.h"
#include "converter/trace/copy_loss.h"
#include "steptrace/status.h"

VERB(pack);

/* The least limit of memory at which blocks are encoded by several threads: each needs compressors
 * of its own. */
#define THREADS_MEMORY ((uint64_t) 1 << 30)

/* ---- a heap trace, packed record by record in large blocks with strong compression ---- */

static void report_sizes(const char *output, uint64_t records, uint64_t before, uint64_t after)
{
    report_line("%s: %" PRIu64 " records, %" PRIu64 " bytes of %" PRIu64 " (%.1f %%)", output,
                records, after, before,
                before > 0 ? 100.0 * (double) after / (double) before : 0.0);
}

/* Rewrites the trace at `path`.  Reports all errors, and the sizes. */
static enum step_status pack_allocs(const char *path, const struct trace_format *from,
                                    const char *output, uint32_t block_records)
{
    struct format_settings settings = {.count = 0};
    struct stepfile_options *options = format_settings_set(&settings, &stepfile_options);
    const struct pouring pouring = {.to = &format_step, .settings = &settings};
    struct event_selection selected;
    struct input input;
    uint64_t size_bytes;
    options->packed_block_records = block_records;
    event_selection_init(&selected);
    selected.needs_all = NULL;
    enum step_status status = input_open(&input, path, from, &selected);
    if (status != STEP_STATUS_OK)
        return status;
    if (input.allocs == NULL) {
        input_close(&input);
        return report_unfit(
            path, "neither a STEP trace (use `steptrace convert` first) nor a heap trace");
    }
    status = input_pour(&input, &pouring, output, &size_bytes);
    if (status == STEP_STATUS_OK) {
        struct trace_summary summary = trace_summary_of(&input.source->about);
        report_sizes(output, input.allocs->record_count, summary.file_bytes, size_bytes);
        status = input_report_damage(&input);
    }
    input_close(&input);
    return status;
}

static const struct verb_help help = {
    "pack", "IN -o OUT",
    "Writes the same records as a .step file that is as small as possible: larger blocks,\n"
    "more encodings tried, and the strongest compression of this build. This takes many\n"
    "times as long as recording. Reading the result takes about as long as before, and\n"
    "more memory. IN is a STEP trace, or a heap trace in any format; - is standard input.\n"};

/* The user's options. */
struct choice {
    uint64_t block_records;
    uint64_t memory;
    const struct trace_format *from;
};

/* Returns NULL if memory runs out. */
static size_t *sort_blocks(const struct step_reader *reader, size_t count)
{
    size_t *blocks = calloc(count + 1, sizeof *blocks);
    if (blocks != NULL && step_reader_sort_blocks(reader, blocks) != STEP_STATUS_OK) {
        free(blocks);
        return NULL;
    }
    return blocks;
}

static uint64_t stream_of(const struct step_reader *reader, size_t block)
{
    return step_reader_block_info(reader, block)->stream;
}

/* Returns the number of records that a reader holds with one block of each stream, if blocks have
 * at most `most` records. */
static uint64_t together(const struct step_reader *reader, const size_t *blocks, size_t count,
                         uint64_t most)
{
    uint64_t sum = 0;
    uint64_t stream = 0;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && stream_of(reader, blocks[i]) != stream_of(reader, blocks[i - 1])) {
            sum += stream < most ? stream : most;
            stream = 0;
        }
        stream += step_reader_block_info(reader, blocks[i])->record_count;
    }
    return sum + (stream < most ? stream : most);
}

static uint64_t fitting_block(const struct step_reader *reader, const size_t *blocks, size_t count,
                              const struct choice *choice)
{
    uint64_t block = choice->block_records;
    while (block > 1000 && together(reader, blocks, count, block) > choice->memory)
        block -= block / 8;
    return block;
}

struct packing {
    struct step_reader *reader;
    size_t *blocks, count; /* in the order of streams */
    uint64_t records;
};

static enum step_status copy_streams(void *user, struct step_writer *writer,
                                     struct step_error *error)
{
    struct packing *packing = user;
    struct step_reader *reader = packing->reader;
    const size_t *blocks = packing->blocks;
    struct step_block *block = NULL;
    if (memory_limit_bytes() >= THREADS_MEMORY)
        step_writer_use_threads(writer, 0);
    enum step_status status = stepfile_copy_start(reader, writer);
    for (size_t i = 0; i < packing->count && status == STEP_STATUS_OK; i++) {
        status = stepfile_copy_block(reader, blocks[i], &block, writer, &packing->records, error);
        bool last = i + 1 == packing->count ||
                    stream_of(reader, blocks[i + 1]) != stream_of(reader, blocks[i]);
        if (status == STEP_STATUS_OK && last)
            status = step_writer_flush_stream(writer, stream_of(reader, blocks[i]));
    }
    step_block_destroy(block);
    return status == STEP_STATUS_OK ? copy_loss_put_of_reader(reader, writer) : status;
}

/* Reports errors, and the sizes. */
static enum step_status pack_records(struct step_reader *reader, const char *output,
                                     const struct choice *choice)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct step_writer_options options;
    struct packing packing = {.reader = reader, .count = step_reader_block_count(reader)};
    uint64_t size_bytes = 0;
    packing.blocks = sort_blocks(reader, packing.count);
    if (packing.blocks == NULL)
        return report_no_memory();
    step_writer_options_init(&options);
    options.definition = step_reader_borrow_definition(reader);
    options.verify = true;
    options.compression = STEP_COMPRESSION_BEST;
    options.block_records = (uint32_t) fitting_block(reader, packing.blocks, packing.count, choice);
    options.memory_bytes = (size_t) 1 << 30;
    enum step_status status =
        trace_write(output, &options, copy_streams, &packing, &size_bytes, &error);
    free(packing.blocks);
    if (status != STEP_STATUS_OK)
        return report_error(&error);
    report_sizes(output, packing.records, step_reader_file_size(reader), size_bytes);
    return status;
}

static enum step_status verb_pack_file(const char *path, const char *output,
                                       const struct choice *choice)
{
    const struct trace_format *format = trace_format_of(path, choice->from);
    if (format != NULL && format->open_source != NULL && format != &format_step)
        return pack_allocs(path, choice->from, output, (uint32_t) choice->block_records);
    struct step_reader *reader;
    struct step_error error = {.offset = STEP_NO_OFFSET};
    enum step_status status = open_with_given_definition(path, NULL, &reader, &error);
    if (status != STEP_STATUS_OK) {
        report_error(&error);
        bool is_bad = status == STEP_STATUS_FORMAT || status == STEP_STATUS_CUT ||
                      status == STEP_STATUS_UNSUPPORTED;
        return is_bad ? STEP_STATUS_CORRUPT : status;
    }
    if (stepfile_reader_has_heap_events(reader)) {
        step_reader_destroy(reader);
        return pack_allocs(path, NULL, output, (uint32_t) choice->block_records);
    }
    status = pack_records(reader, output, choice);
    if (status == STEP_STATUS_OK)
        status = report_reader_damage(reader, path);
    step_reader_destroy(reader);
    return status;
}

/* Copies a pipe to a file first, because a trace's index is at its end. */
static enum step_status pack_operand(const char *path, const char *output,
                                     const struct choice *choice)
{
    struct seekable_path seekable;
    struct step_error error = {.offset = STEP_NO_OFFSET};
    enum step_status status = seekable_path_open(&seekable, path, &error);
    status = status == STEP_STATUS_OK ? verb_pack_file(seekable.path, output, choice)
                                      : report_error(&error);
    seekable_path_close(&seekable);
    return status;
}

enum step_status verb_pack(int argc, char **argv)
{
    const char *output = NULL;
    struct choice choice = {3000000, 8000000, NULL};
    const struct option_row rows[] = {
        {"output", 'o', "OUT", "the file to write", take_text, &output},
        {"block", 'b', "N", "records per block, at most 16777216 (3000000)", take_count,
         &choice.block_records},
        {"together", 'm', "N", "records in the open blocks of all streams together (8000000)",
         take_count, &choice.memory},
        FROM_ROW(&choice.from),
        READING_ROWS};
    struct arguments arguments = ARGUMENTS_OF(help, rows);
    if (!arguments_read(&arguments, argc, argv, 1, 1))
        return arguments.status;
    if (output == NULL || choice.block_records < 1 || choice.block_records > 16777216) {
        return arguments_fault(&arguments, "%s",
                               output == NULL ? "it needs -o OUT" : "--block is 1 to 16777216");
    }
    return pack_operand(arguments.operands[0], output, &choice);
}
