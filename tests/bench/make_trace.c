/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_trace EVENTS LIVE FILE.step: a closed trace of about that many events, in which about LIVE
 * objects are alive at any time.  Four threads allocate; each collection frees seven eighths of
 * what was made since the one before, and the survivors of the fourth collection before it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "steptrace/java_trace.h"

enum { CLASSES = 500, THREADS = 4, ROUNDS_SURVIVED = 4, EVENTS_A_TICK = 5 };
enum stream { STREAM_VM, STREAM_FREES, STREAM_THREADS };

struct maker {
    struct step_writer *writer;
    enum step_status status; /* the first that is not OK */
    uint64_t events;         /* made so far */
    uint64_t next_object;
    uint64_t random;
    uint64_t round_objects;                 /* made between two collections */
    uint64_t first_of[ROUNDS_SURVIVED + 1]; /* first object of the latest rounds, newest first */
};

static void note(struct maker *maker, enum step_status status)
{
    if (maker->status == STEP_STATUS_OK)
        maker->status = status;
    maker->events++;
}

static uint64_t now(const struct maker *maker)
{
    return maker->events / EVENTS_A_TICK;
}

static uint64_t next_random(struct maker *maker)
{
    maker->random = maker->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return maker->random >> 33;
}

/* Which objects live longer goes by their number, so that nothing has to be remembered. */
static bool survives(uint64_t object)
{
    return (object * UINT64_C(0x9e3779b97f4a7c15)) >> 61 == 0;
}

static void define_names(struct maker *maker)
{
    char text[32];
    for (int i = 1; i <= CLASSES + THREADS; i++) {
        bool is_class = i <= CLASSES;
        int length = snprintf(text, sizeof text, is_class ? "made/Class%d" : "thread %d", i);
        struct step_bytes name = {(const uint8_t *) text, (size_t) length};
        if (is_class)
            note(maker, step_java_class_define(maker->writer,
                                               &(struct step_java_class){.name = name}, NULL));
        else
            note(maker, step_java_thread_define(maker->writer,
                                                &(struct step_java_thread){.name = name}, NULL));
    }
    maker->events = 0;
}

static void begin(struct maker *maker)
{
    struct step_writer *writer = maker->writer;
    note(maker, step_writer_property(writer, "resolution-ns", "1000"));
    note(maker, step_writer_property(writer, "producer", "make_trace"));
    define_names(maker);
    note(maker, step_java_vm_start_put(writer, STREAM_VM, &(struct step_java_vm_start){.time = 0}));
    note(maker, step_java_vm_init_put(writer, STREAM_VM, &(struct step_java_vm_init){.time = 0}));
    for (uint64_t i = 1; i <= THREADS; i++)
        note(maker, step_java_thread_existing_put(
                        writer, STREAM_VM, &(struct step_java_thread_existing){.thread = i}));
    for (uint64_t i = 1; i <= CLASSES; i++)
        note(maker, step_java_class_existing_put(writer, STREAM_VM,
                                                 &(struct step_java_class_existing){.class_ = i}));
}

static void allocate(struct maker *maker)
{
    uint64_t thread = maker->next_object / 64 % THREADS, random = next_random(maker);
    struct step_java_object_alloc alloc = {.time = now(maker),
                                           .thread = thread + 1,
                                           .class_ = random % (random % CLASSES + 1) + 1,
                                           .object = maker->next_object++};
    alloc.size = 16 + 8 * (alloc.class_ % 7);
    note(maker, step_java_object_alloc_put(maker->writer, STREAM_THREADS + thread, &alloc));
}

static void free_range(struct maker *maker, uint64_t time, uint64_t first, uint64_t end,
                       bool survivors)
{
    for (uint64_t object = first; object < end; object++) {
        struct step_java_object_free record = {.time = time, .object = object};
        if (survives(object) == survivors)
            note(maker, step_java_object_free_put(maker->writer, STREAM_FREES, &record));
    }
}

static void collect(struct maker *maker)
{
    uint64_t *first = maker->first_of, time = now(maker);
    free_range(maker, time, first[ROUNDS_SURVIVED], first[ROUNDS_SURVIVED - 1], true);
    free_range(maker, time, first[0], maker->next_object, false);
    memmove(first + 1, first, ROUNDS_SURVIVED * sizeof *first);
    first[0] = maker->next_object;
}

static void make(struct maker *maker, uint64_t events)
{
    begin(maker);
    while (maker->events < events && maker->status == STEP_STATUS_OK) {
        for (uint64_t i = 0; i < maker->round_objects; i++)
            allocate(maker);
        collect(maker);
    }
    struct step_java_vm_death death = {.time = now(maker) + 1};
    note(maker, step_java_vm_death_put(maker->writer, STREAM_VM, &death));
}

static enum step_status write_file(void *user, const void *data, size_t length,
                                   struct step_error *error)
{
    if (fwrite(data, 1, length, user) == length)
        return STEP_STATUS_OK;
    return step_error_set(error, STEP_STATUS_IO, NULL, STEP_NO_OFFSET, "cannot be written");
}

static int run(uint64_t events, uint64_t live, FILE *file)
{
    struct maker maker = {.next_object = 1, .random = 1, .round_objects = live / 2 + 1};
    struct step_error error = {.status = STEP_STATUS_OK};
    struct step_writer_options options;
    for (int i = 0; i <= ROUNDS_SURVIVED; i++)
        maker.first_of[i] = 1;
    step_writer_options_init(&options);
    options.definition = &step_java_trace_definition;
    options.output = (struct step_output){file, write_file};
    enum step_status status = step_writer_create(&options, &maker.writer, &error);
    if (status == STEP_STATUS_OK) {
        make(&maker, events);
        status = step_writer_close(maker.writer, &error);
        step_writer_destroy(maker.writer);
    }
    if (status != STEP_STATUS_OK) {
        fprintf(stderr, "make_trace: %s\n", step_status_text(status));
        return 1;
    }
    printf("%" PRIu64 "\n", maker.events);
    return 0;
}

int main(int argc, char **argv)
{
    uint64_t events = argc == 4 ? strtoull(argv[1], NULL, 10) : 0;
    uint64_t live = argc == 4 ? strtoull(argv[2], NULL, 10) : 0;
    if (events == 0 || live == 0) {
        fprintf(stderr, "usage: make_trace EVENTS LIVE FILE.step\n");
        return 2;
    }
    FILE *file = fopen(argv[3], "wb");
    if (file == NULL) {
        perror(argv[3]);
        return 1;
    }
    int code = run(events, live, file);
    if (fclose(file) != 0) {
        perror(argv[3]);
        code = 1;
    }
    return code;
}
