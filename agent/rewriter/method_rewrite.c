/* SPDX-License-Identifier: Apache-2.0 */
/* One method's Code attribute: read, decided what to put in, and written. */
#include "agent/rewriter/method_rewrite.h"

#include <stdlib.h>

static bool cut_short(struct class_file *file, const uint8_t *at)
{
    return class_malformed(file, at, "a Code attribute is cut short");
}

/* The attributes of the code: that they are whole; finds the StackMapTable. */
static bool read_attributes(struct method_code *method, const uint8_t *at, const uint8_t *end)
{
    struct class_text name;
    method->attributes = at;
    for (uint32_t i = 0; i < method->attribute_count; i++) {
        if (end - at < 6 || (size_t) (end - at) - 6 < load_u4(at + 2))
            return cut_short(method->file, at);
        const uint8_t *next = at + 6 + load_u4(at + 2);
        if (!pool_text(method->file, load_u2(at), &name))
            return false;
        if (method->file->version >= VERSION_FRAMES && text_is(name, "StackMapTable")) {
            if (method->frames != NULL)
                return class_malformed(method->file, at, "two StackMapTables");
            method->frames = at + 6;
            method->frames_end = next;
            method->frames_name = load_u2(at);
        }
        at = next;
    }
    method->attributes_end = at;
    return at == end || class_malformed(method->file, at, "bytes after a Code's attributes");
}

static bool read_code(struct method_code *method, const uint8_t *at, const uint8_t *end)
{
    struct class_file *file = method->file;
    if (end - at < 12)
        return cut_short(file, at);
    method->max_stack = load_u2(at);
    method->max_locals = load_u2(at + 2);
    method->length = load_u4(at + 4);
    method->code = at + 8;
    if (method->length == 0 || method->length > CODE_LIMIT)
        return class_malformed(file, at, "code of no or too many bytes");
    if ((size_t) (end - at) - 12 < method->length)
        return cut_short(file, at);
    at += 8 + method->length;
    method->handler_count = load_u2(at);
    method->handlers = at + 2;
    if ((size_t) (end - at) - 4 < 8 * method->handler_count)
        return cut_short(file, at);
    at += 2 + 8 * method->handler_count;
    method->attribute_count = load_u2(at);
    return read_attributes(method, at + 2, end);
}

static char *arena_text(struct class_file *file, struct class_text text)
{
    char *copy = arena_take(&file->arena, text.length + 1);
    if (copy == NULL)
        return NULL;
    memcpy(copy, text.bytes, text.length);
    copy[text.length] = 0;
    return copy;
}

/* Names as the request's functions want them; false: out of memory. */
static bool name_texts(const struct method_code *method, char *names[3])
{
    struct class_file *file = method->file;
    names[0] = arena_text(file, file->name);
    names[1] = arena_text(file, method->name);
    names[2] = arena_text(file, method->descriptor);
    return names[0] != NULL && names[1] != NULL && names[2] != NULL;
}

static bool ask_number(struct method_code *method)
{
    const struct rewrite_request *request = method->file->request;
    char *names[3];
    if (!request->method || request->method_number == NULL)
        return true;
    if (!name_texts(method, names))
        return method_no_memory(method);
    method->number =
        request->method_number(request->context, names[0], names[1], names[2], method->access);
    return true;
}

static void report(const struct method_code *method)
{
    enum rewrite_loss loss = method->number != 0  ? LOSS_METHOD_EVENTS
                             : method->references ? LOSS_STORES
                                                  : LOSS_ALLOCATIONS;
    const struct rewrite_request *request = method->file->request;
    char *names[3];
    if (request->left_alone != NULL && name_texts(method, names))
        request->left_alone(request->context, names[0], names[1], names[2], method->reason, loss);
}

/* The instruction that pushes the method's number. */
static bool make_push(struct method_code *method)
{
    return pool_push(method->file, method->number, &method->push);
}

static bool put_attributes(struct method_code *method)
{
    struct class_output *output = &method->file->output;
    bool handler_frame = has_unwinding(method) && method->file->version >= VERSION_FRAMES;
    bool add_map = method->frames == NULL && handler_frame;
    put_u2(output, method->attribute_count + add_map);
    if (method->attribute_count + add_map > 0xFFFF)
        return method_leave(method, "its code has too many attributes");
    for (const uint8_t *at = method->attributes; at < method->attributes_end;) {
        bool map = at + 6 == method->frames;
        if (!(map ? stack_map_put(method) : code_put_attribute(method, at)))
            return false;
        at += 6 + load_u4(at + 2);
    }
    if (!add_map)
        return true;
    method->frames_name = pool_frames_name(method->file);
    return method->frames_name != 0 && stack_map_put(method);
}

/* Attributes change their length only by frames, so that one length is patched at the end. */
static bool put_code(struct method_code *method, const uint8_t *attribute)
{
    struct class_file *file = method->file;
    struct class_output *output = &file->output;
    uint32_t max_stack = method->max_stack + method->more_stack;
    if (max_stack > 0xFFFF)
        return method_leave(method, "its stack would be larger than 65535 slots");
    put_bytes(output, file->bytes + file->copied,
              (size_t) (attribute - file->bytes) - file->copied + 2);
    size_t place = output->used;
    put_u4(output, 0);
    put_u2(output, max_stack);
    put_u2(output, guarded_locals(method));
    put_u4(output, method->new_length);
    if (!code_emit(method) || !code_put_handlers(method) || !put_attributes(method))
        return false;
    patch_u4(output, place, (uint32_t) (output->used - place - 4));
    return true;
}

/* Finds what to put in and puts it; a failure leaves half of it in the output. */
static bool try_probes(struct method_code *method, const uint8_t *attribute)
{
    if (method->number != 0 && !make_push(method))
        return false;
    if (!method_scan(method))
        return false;
    if (!method->touched)
        return true;
    method->leaf = is_leaf_method(method);
    if (method->constructor && (method->number != 0 || method->stores_fields) &&
        !constructor_mark(method))
        return false;
    return code_layout(method) && put_code(method, attribute);
}

/* The next that the method does without; false: there is nothing left. */
static bool give_up_one(struct method_code *method)
{
    if (method->number == 0 && !method->references)
        return false;
    if (method->number != 0)
        method->number = 0;
    else
        method->references = false;
    return method->alloc || method->references;
}

/* A method that can't have all probes may still have those of its stores and allocations. */
static bool try_less(struct method_code *method, const uint8_t *attribute)
{
    size_t used = method->file->output.used;
    bool done = try_probes(method, attribute);
    while (!done && method->reason != NULL) {
        method->file->output.used = used;
        if (method->number != 0 || method->alloc)
            report(method);
        if (!give_up_one(method))
            return true;
        method->reason = NULL;
        method->touched = false;
        method->trampoline_count = 0;
        done = try_probes(method, attribute);
    }
    if (done && method->touched)
        method->file->copied =
            (size_t) (attribute - method->file->bytes) + 6 + load_u4(attribute + 2);
    return done;
}

static bool rewrite_code(struct method_code *method, const uint8_t *attribute)
{
    struct class_file *file = method->file;
    if (!ask_number(method))
        return false;
    method->alloc = file->request->alloc;
    method->references = file->request->references;
    if (!method->alloc && method->number == 0 && !method->references)
        return true;
    method->marks = arena_take(&file->arena, (method->length + 1) * sizeof *method->marks);
    if (method->marks == NULL)
        return method_no_memory(method);
    return try_less(method, attribute);
}

bool method_rewrite(struct class_file *file, const struct method_head *head,
                    const uint8_t *attribute)
{
    struct method_code method = {
        .file = file, .name = head->name, .descriptor = head->descriptor, .access = head->access};
    bool constructor = text_is(head->name, "<init>");
    method.object_init = constructor && text_is(file->name, "java/lang/Object");
    method.constructor = constructor && !method.object_init;
    return read_code(&method, attribute + 6, attribute + 6 + load_u4(attribute + 2)) &&
           rewrite_code(&method, attribute);
}
