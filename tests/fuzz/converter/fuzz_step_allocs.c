/* SPDX-License-Identifier: Apache-2.0 */
/* Heap traces as STEP, with any records, places and streams: the source of records refuses them or
 * gives some, and what it gives can be written and read again as the same. */
#include <stdlib.h>
#include <string.h>

#include "converter/step/stepfile.h"
#include "converter/trace/address_model.h"
#include "steptrace/hatf_trace.h"
#include "tests/fuzz/kept_output.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A record for each 8 bytes: its type, its stream, and small or large numbers. */
static void put_record(struct step_writer *writer, const uint8_t *bytes)
{
    uint64_t slots[HEAP_STEP_SLOTS];
    struct step_bytes text = {bytes, bytes[1] % 8u};
    unsigned kind = bytes[0] % 23;
    for (unsigned i = 0; i < HEAP_STEP_SLOTS; i++)
        slots[i] = (uint64_t) bytes[1 + i % 7] << (bytes[7] >> i & 1 ? 20 : 0);
    slots[2] = bytes[3] % 3;
    if (kind == 20)
        step_heap_comment_put(writer, 0, &(struct step_heap_comment){text});
    else if (kind == 21)
        step_heap_next_attributes_put(writer, bytes[2] % 2,
                                      &(struct step_heap_next_attributes){text});
    else if (kind == 22)
        step_heap_attributes_define(writer, &(struct step_heap_attributes){text}, NULL);
    else
        step_writer_put(writer, bytes[2] % 2,
                        kind < 10 ? alloc_forms[kind].plain : alloc_forms[kind - 10].placed, slots);
}

static struct kept_output make_trace(const uint8_t *data, size_t size)
{
    struct kept_output output = {NULL, 0};
    struct step_writer_options options;
    struct step_writer *writer;
    step_writer_options_init(&options);
    options.definition = &step_hatf_trace_definition;
    options.output = kept_output_of(&output);
    options.compression = STEP_COMPRESSION_NONE;
    options.block_records = 64;
    if (step_writer_create(&options, &writer, NULL) != STEP_STATUS_OK)
        abort();
    for (size_t at = 0; at + 8 <= size && at < 8000; at += 8)
        put_record(writer, data + at);
    step_writer_close(writer, NULL);
    step_writer_destroy(writer);
    return output;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct kept_output trace = make_trace(data, size);
    struct step_reader *reader;
    struct alloc_source *source;
    struct hatf_record record;
    struct address_model *writes = address_model_create(false);
    struct address_model *reads = address_model_create(true);
    if (step_reader_open_memory(trace.data, trace.length, "fuzz", &reader, NULL) ==
            STEP_STATUS_OK &&
        stepfile_alloc_source_create("fuzz", reader, &source, NULL) == STEP_STATUS_OK) {
        while (alloc_source_next(source, &record, NULL) == STEP_STATUS_OK) {
            struct address_place place;
            struct hatf_record back = record;
            if (address_model_place(writes, &record, &place) == HEAP_PLACED) {
                back.address = back.new_address = 0;
                if (address_model_find(reads, &place, &back) != HEAP_PLACED)
                    abort();
            } else {
                address_model_note(reads, &record);
            }
            if (back.address != record.address || back.new_address != record.new_address)
                abort();
        }
        alloc_source_destroy(source);
    }
    address_model_destroy(writes);
    address_model_destroy(reads);
    free(trace.data);
    return 0;
}
