/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/analyses/small_trace.h"

#include <CUnit/Basic.h>
#include <string.h>

#include "steptrace/writer.h"
#include "tests/unit/scratch.h"

#define STREAM 2u /* 1 is that of definitions */
#define OK(call) CU_ASSERT_EQUAL_FATAL((call), STEP_STATUS_OK)

uint64_t small_now;

static struct step_writer *writer;
static char path[128];
static uint64_t objects;

void small_trace_begin(const char *name)
{
    struct step_writer_options options;
    step_writer_options_init(&options);
    options.definition = &step_java_trace_definition;
    strcpy(path, scratch_path(name));
    OK(step_writer_open(path, &options, &writer, NULL));
    small_now = 0;
    objects = 0;
    small_property("resolution-ns", "1000");
    small_property("events", "class+alloc+free+thread");
    small_class("java/lang/Class");
    small_thread("main");
}

char *small_trace_end(void)
{
    OK(step_writer_close(writer, NULL));
    step_writer_destroy(writer);
    return path;
}

struct step_writer *small_trace_writer(void)
{
    return writer;
}

void small_property(const char *key, const char *value)
{
    OK(step_writer_property(writer, key, value));
}

uint64_t small_class(const char *name)
{
    uint64_t id;
    OK(step_java_class_define(writer, &(struct step_java_class){.name = step_text(name)}, &id));
    return id;
}

uint64_t small_method(uint64_t class_id, const char *name)
{
    uint64_t id;
    const struct step_java_method method = {
        .class_ = class_id, .name = step_text(name), .descriptor = step_text("()V")};
    OK(step_java_method_define(writer, &method, &id));
    return id;
}

uint64_t small_thread(const char *name)
{
    uint64_t id;
    OK(step_java_thread_define(writer, &(struct step_java_thread){.name = step_text(name)}, &id));
    return id;
}

uint64_t small_frame(uint64_t parent, uint64_t method, uint64_t line)
{
    uint64_t id;
    const struct step_java_frame frame = {.parent = parent, .method = method, .line = line};
    OK(step_java_frame_define(writer, &frame, &id));
    return id;
}

uint64_t small_alloc(uint64_t class_id, uint64_t size, uint64_t stack)
{
    const struct step_java_object_alloc_at at = {.time = small_now,
                                                 .thread = 1,
                                                 .class_ = class_id,
                                                 .size = size,
                                                 .object = ++objects,
                                                 .stack = stack};
    const struct step_java_object_alloc plain = {
        .time = small_now, .thread = 1, .class_ = class_id, .size = size, .object = objects};
    OK(stack != 0 ? step_java_object_alloc_at_put(writer, STREAM, &at)
                  : step_java_object_alloc_put(writer, STREAM, &plain));
    return objects;
}

void small_free(uint64_t object)
{
    OK(step_java_object_free_put(
        writer, STREAM,
        &(struct step_java_object_free){.time = small_now, .thread = 0, .object = object}));
}

void small_start(void)
{
    OK(step_java_vm_start_put(writer, STREAM, &(struct step_java_vm_start){.time = small_now}));
    OK(step_java_vm_init_put(writer, STREAM,
                             &(struct step_java_vm_init){.time = small_now, .thread = 1}));
}

void small_death(void)
{
    OK(step_java_vm_death_put(writer, STREAM,
                              &(struct step_java_vm_death){.time = small_now, .thread = 1}));
}
