/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_graph OBJECTS FILE.step: a snapshot of so many objects: trees, lists, and references across
 * them, two and a half an object.
 * make_graph -s EVENTS LIVE FILE.step: a trace of about so many events, allocations, stores, calls
 * and frees, with about LIVE objects at any time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "steptrace/java_trace.h"

enum { STREAM_VM, STREAM_FREES, STREAM_THREAD, CLASSES = 300, FIELDS = 4 };

struct maker {
    struct step_writer *writer;
    enum step_status status; /* the first that is not OK */
    uint64_t random;
    uint64_t events;
};

static void note(struct maker *maker, enum step_status status)
{
    if (maker->status == STEP_STATUS_OK)
        maker->status = status;
    maker->events++;
}

static uint64_t below(struct maker *maker, uint64_t most)
{
    maker->random = maker->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (maker->random >> 20) % most;
}

static void define_names(struct maker *maker)
{
    char text[32];
    for (int i = 1; i <= CLASSES; i++) {
        struct step_bytes name = {(const uint8_t *) text, 0};
        name.length = (size_t) snprintf(text, sizeof text, "made/Class%d", i);
        note(maker,
             step_java_class_define(maker->writer, &(struct step_java_class){.name = name}, NULL));
    }
    for (int i = 1; i <= FIELDS; i++) {
        struct step_bytes name = {(const uint8_t *) text, 0};
        name.length = (size_t) snprintf(text, sizeof text, "field%d", i);
        note(maker, step_java_field_define(
                        maker->writer,
                        &(struct step_java_field){1, name, name, i == FIELDS ? 8 : 0}, NULL));
    }
    struct step_bytes name = {(const uint8_t *) "run", 3};
    note(maker, step_java_method_define(maker->writer, &(struct step_java_method){1, name, name, 0},
                                        NULL));
    note(maker,
         step_java_thread_define(maker->writer, &(struct step_java_thread){.name = name}, NULL));
}

static void put_reference(struct maker *maker, uint64_t holder, uint64_t target, uint64_t field)
{
    note(maker, step_java_field_reference_put(
                    maker->writer, STREAM_THREAD,
                    &(struct step_java_field_reference){2, 1, holder, target, field}));
}

static void make_snapshot(struct maker *maker, uint64_t objects)
{
    for (uint64_t i = 1; i <= objects; i++)
        note(maker, step_java_object_existing_put(
                        maker->writer, STREAM_VM,
                        &(struct step_java_object_existing){1, 0, 1 + below(maker, CLASSES),
                                                            16 + 8 * below(maker, 8), i, 0}));
    note(maker, step_java_snapshot_put(
                    maker->writer, STREAM_THREAD,
                    &(struct step_java_snapshot){2, 1, 1, {(const uint8_t *) "end", 3}}));
    put_reference(maker, 0, 1, FIELDS);
    for (uint64_t i = 1; i <= objects; i++) {
        if (2 * i <= objects && i % 3 != 0)
            put_reference(maker, i, 2 * i, 1);
        if (2 * i + 1 <= objects)
            put_reference(maker, i, 2 * i + 1, 2);
        else
            put_reference(maker, i, 1 + below(maker, objects), 2);
        put_reference(maker, i, i < objects && i % 64 != 0 ? i + 1 : 1 + below(maker, objects), 3);
        if (i % 2 == 0)
            put_reference(maker, i, 1 + below(maker, objects), 1 + i % 2);
    }
    note(maker,
         step_java_snapshot_end_put(maker->writer, STREAM_THREAD,
                                    &(struct step_java_snapshot_end){2, 1, 1, objects, 0, 1, 0}));
}

/* An object is held by one of `live` slots of static arrays; most die young. */
static void make_stores(struct maker *maker, uint64_t events, uint64_t live)
{
    uint64_t next = 1, arrays = live / 64 + 1, time = 1, freed = 1;
    uint64_t *slots = calloc(arrays * 64, sizeof *slots);
    uint8_t *held = calloc(events + 2, 1);
    for (uint64_t i = 0; i < arrays; i++, next++) {
        note(maker, step_java_object_existing_put(
                        maker->writer, STREAM_VM,
                        &(struct step_java_object_existing){1, 0, 2, 528, next, 0}));
        held[next] = 2;
    }
    freed = next;
    while (maker->events < events) {
        time = maker->events / 4 + 2;
        uint64_t object = next++, slot = below(maker, arrays * 64);
        note(maker,
             step_java_object_alloc_put(maker->writer, STREAM_THREAD,
                                        &(struct step_java_object_alloc){
                                            time, 1, 1 + below(maker, CLASSES), 32, object, 0}));
        note(maker,
             step_java_method_entry_put(maker->writer, STREAM_THREAD,
                                        &(struct step_java_method_entry){time, 1, 1, object}));
        if (object > arrays + 2)
            note(maker,
                 step_java_field_store_put(maker->writer, STREAM_THREAD,
                                           &(struct step_java_field_store){
                                               time, 1, object, 1 + below(maker, arrays), 1}));
        note(maker, step_java_method_exit_put(maker->writer, STREAM_THREAD,
                                              &(struct step_java_method_exit){time, 1, 1}));
        if (object % 4 == 0) {
            note(maker,
                 step_java_element_store_put(
                     maker->writer, STREAM_THREAD,
                     &(struct step_java_element_store){time, 1, 1 + slot / 64, object, slot % 64}));
            if (slots[slot] != 0)
                held[slots[slot]] = 0;
            slots[slot] = object;
            held[object] = 1;
        }
        if (next % 65536 == 0)
            for (uint64_t i = next > 8 * live + 65536 && freed + 8 * live < next ? next - 8 * live
                                                                                 : freed;
                 i < next; i++)
                if (held[i] == 0) {
                    held[i] = 3;
                    note(maker, step_java_object_free_put(
                                    maker->writer, STREAM_FREES,
                                    &(struct step_java_object_free){time + 1, 0, i}));
                }
    }
    free(slots);
    free(held);
}

int main(int argc, char **argv)
{
    bool is_stores = argc == 5 && strcmp(argv[1], "-s") == 0;
    struct maker maker = {.random = 1};
    struct step_error error = {.offset = STEP_NO_OFFSET};
    if ((argc != 3 && !is_stores) ||
        step_java_trace_create(argv[argc - 1], &maker.writer, &error) != STEP_STATUS_OK) {
        fprintf(stderr, "make_graph [-s EVENTS LIVE | OBJECTS] FILE.step %s\n", error.message);
        return 1;
    }
    define_names(&maker);
    if (is_stores)
        make_stores(&maker, strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
    else
        make_snapshot(&maker, strtoull(argv[1], NULL, 10));
    enum step_status closed = step_writer_close(maker.writer, &error);
    step_writer_destroy(maker.writer);
    return maker.status != STEP_STATUS_OK || closed != STEP_STATUS_OK;
}
