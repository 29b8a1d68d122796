/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Java traces with any stores, snapshots and frees: deaths are found and dated, and graphs at
 * moments are searched, dominated and dumped.  What must hold of any trace is checked.  The first
 * byte of the input says how the rest is taken: even  it is records, 8 bytes each; odd  it is 8
 * changes (2 bytes place, 1 byte value), which damage the trace, then records
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "converter/formats/hprof/hprof_writer.h"
#include "converter/graph/dated_trace.h"
#include "converter/graph/paths.h"
#include "converter/graph/retained.h"
#include "tests/fuzz/kept_output.h"
#include "tests/fuzz/step/seal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RECORD_BYTES = 8, SLOTS = 8 };

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, #condition), abort();                \
    } while (0)

/* ---- a trace ---- */

static void define_names(struct step_writer *writer)
{
    static const char *const classes[] = {"a/B", "[La/B;", "java/lang/ref/Reference", "[I",
                                          "[\xff"};
    static const char *const fields[] = {"next", "referent", "root", "other"};
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        step_java_class_define(writer, &(struct step_java_class){step_text(classes[i]), 0}, NULL);
    for (uint64_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        step_java_field_define(writer,
                               &(struct step_java_field){i == 1 ? 3 : 1, step_text(fields[i]),
                                                         step_text("La/B;"), i == 2 ? 8 : 0},
                               NULL);
    step_java_method_define(
        writer, &(struct step_java_method){1, step_text("m"), step_text("()V"), 1}, NULL);
    step_java_thread_define(writer, &(struct step_java_thread){step_text("t"), 0}, NULL);
    step_java_frame_define(writer, &(struct step_java_frame){0, 1, 10, 0}, NULL);
}

/* Time goes on by each record; objects are few, so that they meet. */
static void put_record(struct step_writer *writer, const uint8_t *bytes, uint64_t *time)
{
    static const char *const names[] = {"java.ObjectAlloc",    "java.ObjectAllocAt",
                                        "java.ObjectExisting", "java.ObjectFree",
                                        "java.ObjectFree",     "java.MethodEntry",
                                        "java.MethodExit",     "java.FieldStore",
                                        "java.FieldStore",     "java.ElementStore",
                                        "java.ElementStore",   "java.RangeStore",
                                        "java.CloneStore",     "java.Root",
                                        "java.FieldReference", "java.ElementReference",
                                        "java.OtherReference", "java.SnapshotEnd",
                                        "java.Snapshot",       "java.ObjectFreeUnknown",
                                        "java.VMDeath"};
    enum { KINDS = sizeof names / sizeof names[0] };
    const char *name = names[bytes[0] % KINDS];
    uint64_t slots[SLOTS] = { *time += bytes[1] % 3u, 1};
    for (unsigned i = 2; i < SLOTS; i++)
        slots[i] = (uint64_t) (bytes[i] % 24u) << (bytes[7] >> i & 1 ? 8 * (bytes[6] % 8u) : 0);
    bool is_free = strstr(name, "Free") != NULL;
    if (strcmp(name, "java.Snapshot") == 0)
        step_java_snapshot_put(writer, 2,
                               &(struct step_java_snapshot){
                                   *time, 1, bytes[2], step_text(bytes[3] % 2 ? "start" : "x")});
    else
        step_writer_put(writer, is_free ? 1 : 2 + bytes[0] / 128,
                        step_definition_find(&step_java_trace_definition, name), slots);
}

static struct kept_output make_trace(const uint8_t *data, size_t size)
{
    struct kept_output output = {NULL, 0};
    struct step_writer_options options;
    struct step_writer *writer;
    uint64_t time = 0;
    step_writer_options_init(&options);
    options.definition = &step_java_trace_definition;
    options.output = kept_output_of(&output);
    options.compression = STEP_COMPRESSION_NONE;
    options.block_records = 32;
    CHECK(step_writer_create(&options, &writer, NULL) == STEP_STATUS_OK);
    if (size % 3 == 0)
        step_writer_property(writer, "collect", "4096");
    define_names(writer);
    for (size_t at = 0; at + RECORD_BYTES <= size && at < 8000; at += RECORD_BYTES)
        put_record(writer, data + at, &time);
    step_writer_close(writer, NULL);
    step_writer_destroy(writer);
    return output;
}

/* ---- a disk for dumps, which have the elements of arrays as long as the trace says ---- */

#define DUMP_MOST (UINT64_C(32) << 20)

static ssize_t write_small_disk(void *cookie, const char *bytes, size_t length)
{
    uint64_t *room = cookie;
    (void) bytes;
    if (length > *room) {
        *room = 0;
        errno = ENOSPC;
        return 0;
    }
    *room -= length;
    return (ssize_t) length;
}

static const cookie_io_functions_t small_disk = {.write = write_small_disk};

/* ---- what is found ---- */

static enum step_status pass_over(void *user, const void *data, size_t length,
                                  struct step_error *error)
{
    (void) user, (void) data, (void) length, (void) error;
    return STEP_STATUS_OK;
}

/* Deaths are as many as the frees were, none after its collection, and in order. */
static void check_deaths(const struct kept_output *dated, const struct dated_summary *summary)
{
    struct step_reader *reader;
    struct graph_source source;
    const struct graph_event *event;
    uint64_t count = 0, last = 0;
    CHECK(step_reader_open_memory(dated->data, dated->length, "dated", &reader, NULL) ==
          STEP_STATUS_OK);
    CHECK(graph_source_init(&source, reader, NULL) == STEP_STATUS_OK);
    CHECK(graph_source_start(&source, GRAPH_EVENT_BIT(GRAPH_DEATH), NULL, NULL, NULL) ==
          STEP_STATUS_OK);
    while (graph_source_next(&source, &event, NULL) == STEP_STATUS_OK) {
        CHECK(event->time >= last && event->time <= event->amount);
        last = event->time;
        count++;
    }
    CHECK(count == summary->counts[0] + summary->counts[1] + summary->counts[2]);
    graph_source_reset(&source);
    step_reader_destroy(reader);
}

static void search(struct step_reader *reader, const struct heap_moment *moment, bool dumps)
{
    struct graph_moment graph;
    if (graph_moment_find(&graph, reader, moment, NULL) == STEP_STATUS_OK) {
        for (int by = RETAINED_BY_CLASS; by <= RETAINED_BY_OBJECT; by++) {
            struct retained retained;
            CHECK(retained_find(&graph, (enum retained_by) by, 0, &retained, NULL) ==
                  STEP_STATUS_OK);
            CHECK(retained.objects + retained.unreached_objects == graph.replay.graph.living);
            for (size_t i = 0; i < retained.count; i++)
                CHECK(retained.rows[i].bytes <= retained.rows[i].retained_bytes);
            retained_reset(&retained);
        }
        struct keeper_paths paths;
        CHECK(keeper_paths_find(&graph, &(struct keeper_choice){.object = 3}, &paths));
        keeper_paths_reset(&paths);
        struct hprof_classes found;
        uint64_t room = DUMP_MOST;
        FILE *file = dumps ? fopencookie(&room, "w", small_disk) : NULL;
        if (file != NULL) {
            CHECK(hprof_classes_find(&found, &graph));
            CHECK(hprof_write(&found, file, NULL) == STEP_STATUS_OK || room == 0);
            hprof_classes_reset(&found);
            fclose(file);
        }
    }
    graph_moment_reset(&graph);
}

static void try_trace(const struct kept_output *trace, bool is_good)
{
    struct step_reader *reader;
    struct dated_summary summary;
    struct kept_output dated = {NULL, 0};
    const struct step_output to = {is_good ? &dated : NULL,
                                   is_good ? kept_output_write : pass_over};
    if (step_reader_open_memory(trace->data, trace->length, "fuzz", &reader, NULL) !=
        STEP_STATUS_OK)
        return;
    if (dated_trace_write(reader, &to, &summary, NULL) == STEP_STATUS_OK && is_good)
        check_deaths(&dated, &summary);
    free(dated.data);
    search(reader, &(struct heap_moment){.kind = HEAP_AT_END}, true);
    search(reader, &(struct heap_moment){.kind = HEAP_AT_PEAK}, false);
    search(reader, &(struct heap_moment){.kind = HEAP_AT_COLLECTION, .value = 2}, false);
    step_reader_destroy(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t head = seal_head_bytes(data, size);
    if (size < head)
        return 0;
    struct kept_output trace = make_trace(data + head, size - head);
    seal_changed_trace(data, head, trace.data, trace.length);
    try_trace(&trace, head == 1);
    free(trace.data);
    return 0;
}
