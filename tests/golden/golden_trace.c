/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the small trace whose forms the golden files hold: golden_trace OUT.step. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "steptrace/java_trace.h"
#include "steptrace/writer.h"

enum { GLOBAL = 0, FREES = 1, MAIN = 2, WORKER = 3 };

static struct step_bytes bytes_of(const char *text)
{
    return (struct step_bytes){(const uint8_t *) text, strlen(text)};
}

static enum step_status write_file(void *user, const void *data, size_t length,
                                   struct step_error *error)
{
    return fwrite(data, 1, length, user) == length
               ? STEP_STATUS_OK
               : step_error_set(error, STEP_STATUS_IO, NULL, STEP_NO_OFFSET, "write");
}

static void put_names(struct step_writer *writer)
{
    /* the third has a colon, a backslash, a line feed, an unpaired surrogate and U+1F600 */
    static const char *const classes[] = {"java/lang/Object", "[I",
                                          "odd:na\\me\n\xed\xa0\x80/\xf0\x9f\x98\x80"};
    static const struct {
        uint64_t class_id;
        const char *name;
        uint64_t modifiers;
    } methods[] = {{1, "<init>", 1}, {3, "main", 9}, {3, "run", 1}};
    static const char *const threads[] = {"main", "worker"};
    for (size_t i = 0; i < 3; i++)
        step_java_class_define(writer, &(struct step_java_class){.name = bytes_of(classes[i])},
                               NULL);
    for (size_t i = 0; i < 3; i++)
        step_java_method_define(writer,
                                &(struct step_java_method){.class_ = methods[i].class_id,
                                                           .name = bytes_of(methods[i].name),
                                                           .descriptor = bytes_of("()V"),
                                                           .modifiers = methods[i].modifiers},
                                NULL);
    for (size_t i = 0; i < 2; i++)
        step_java_thread_define(writer, &(struct step_java_thread){.name = bytes_of(threads[i])},
                                NULL);
    step_writer_property(writer, "resolution-ns", "1000");
    step_writer_property(writer, "producer", "golden_trace");
}

static void put_class(struct step_writer *writer, uint64_t time, uint64_t class_id)
{
    step_java_class_load_put(writer, GLOBAL,
                             &(struct step_java_class_load){.time = time, .class_ = class_id});
}

static void put_alloc(struct step_writer *writer, uint64_t stream, uint64_t time, uint64_t class_id,
                      uint64_t size, uint64_t object)
{
    step_java_object_alloc_put(writer, stream,
                               &(struct step_java_object_alloc){.time = time,
                                                                .thread = stream - FREES,
                                                                .class_ = class_id,
                                                                .size = size,
                                                                .object = object});
}

static void put_free(struct step_writer *writer, uint64_t time, uint64_t object)
{
    step_java_object_free_put(writer, FREES,
                              &(struct step_java_object_free){.time = time, .object = object});
}

static void put_entry(struct step_writer *writer, uint64_t stream, uint64_t time, uint64_t method,
                      uint64_t object)
{
    step_java_method_entry_put(
        writer, stream,
        &(struct step_java_method_entry){
            .time = time, .thread = stream - FREES, .method = method, .object = object});
}

static void put_exit(struct step_writer *writer, uint64_t stream, uint64_t time, uint64_t method)
{
    step_java_method_exit_put(
        writer, stream,
        &(struct step_java_method_exit){.time = time, .thread = stream - FREES, .method = method});
}

static void put_global(struct step_writer *writer)
{
    step_java_vm_start_put(writer, GLOBAL, &(struct step_java_vm_start){.time = 0});
    step_java_vm_init_put(writer, GLOBAL, &(struct step_java_vm_init){.time = 40});
    step_java_class_existing_put(writer, GLOBAL,
                                 &(struct step_java_class_existing){.time = 40, .class_ = 1});
    step_java_class_existing_put(writer, GLOBAL,
                                 &(struct step_java_class_existing){.time = 40, .class_ = 2});
    step_java_thread_existing_put(writer, GLOBAL,
                                  &(struct step_java_thread_existing){.time = 40, .thread = 1});
    put_class(writer, 50, 3);
    step_java_thread_start_put(writer, GLOBAL,
                               &(struct step_java_thread_start){.time = 60, .thread = 2});
    step_java_vm_death_put(writer, GLOBAL, &(struct step_java_vm_death){.time = 5000000});
}

/* Times, sizes and ids that need each of the widths; ties between all streams. */
static void put_events(struct step_writer *writer)
{
    step_java_object_existing_put(
        writer, MAIN,
        &(struct step_java_object_existing){.time = 40, .class_ = 1, .size = 16, .object = 1});
    put_entry(writer, MAIN, 51, 2, 0);
    put_alloc(writer, MAIN, 52, 3, 24, 2);
    put_entry(writer, MAIN, 52, 1, 2);
    put_exit(writer, MAIN, 53, 1);
    put_alloc(writer, MAIN, 70, 2, 70016, 3);
    put_alloc(writer, MAIN, 71, 2, UINT64_C(0x123456788), 300);
    put_entry(writer, WORKER, 70, 3, 3); /* at the tick of its allocation in the other stream */
    put_entry(writer, WORKER, 72, 1, 300);
    step_java_frame_pop_put(writer, WORKER,
                            &(struct step_java_frame_pop){.time = 73, .thread = 2, .method = 1});
    put_exit(writer, WORKER, 74, 3);
    step_java_thread_end_put(writer, WORKER,
                             &(struct step_java_thread_end){.time = 74, .thread = 2});
    put_alloc(writer, MAIN, 80, 1, 16, UINT64_C(0x100000001));
    put_free(writer, 80, 2);
    put_free(writer, 80, 3);
    put_exit(writer, MAIN, 4999999, 2);
    put_free(writer, 5000000, UINT64_C(0x100000001));
    step_java_object_free_unknown_put(
        writer, FREES,
        &(struct step_java_object_free_unknown){.time = 5000000, .object = 77, .class_ = 1});
    step_java_thread_end_put(writer, MAIN,
                             &(struct step_java_thread_end){.time = 5000000, .thread = 1});
}

int main(int argc, char **argv)
{
    struct step_writer_options options;
    struct step_writer *writer = NULL;
    FILE *file = argc == 2 ? fopen(argv[1], "wb") : NULL;
    if (file == NULL)
        return 1;
    step_writer_options_init(&options);
    options.definition = &step_java_trace_definition;
    options.output = (struct step_output){file, write_file};
    if (step_writer_create(&options, &writer, NULL) != STEP_STATUS_OK)
        return 1;
    put_names(writer);
    put_global(writer);
    put_events(writer);
    enum step_status status = step_writer_close(writer, NULL);
    step_writer_destroy(writer);
    return fclose(file) == 0 && status == STEP_STATUS_OK ? 0 : 1;
}
