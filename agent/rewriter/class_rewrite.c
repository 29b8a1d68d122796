/* SPDX-License-Identifier: Apache-2.0 */
/* Rewrites a class file: reads its members and assembles the new one. */
#include <stdlib.h>

#include "agent/rewriter/class_file.h"
#include "agent/rewriter/method_code.h"

/* ---- going through a class file ---- */

static bool need(struct class_cursor *cursor, size_t bytes)
{
    if ((size_t) (cursor->end - cursor->at) >= bytes)
        return true;
    return class_malformed(cursor->file, cursor->at, "the class file is truncated");
}

/* Reads the number of what follows. */
static bool read_count(struct class_cursor *cursor, uint32_t *count)
{
    if (!need(cursor, 2))
        return false;
    *count = load_u2(cursor->at);
    cursor->at += 2;
    return true;
}

bool class_attributes(struct class_cursor *cursor, const uint8_t *member, class_visitor *visit,
                      void *context)
{
    uint32_t count;
    if (!read_count(cursor, &count))
        return false;
    for (; count > 0; count--) {
        const uint8_t *attribute = cursor->at;
        if (!need(cursor, 6) || !need(cursor, (size_t) 6 + load_u4(attribute + 2)))
            return false;
        cursor->at += (size_t) 6 + load_u4(attribute + 2);
        if (visit != NULL && !visit(context, member, attribute))
            return false;
    }
    return true;
}

bool class_members(struct class_cursor *cursor, class_visitor *visit, void *context)
{
    uint32_t count;
    if (!read_count(cursor, &count))
        return false;
    for (; count > 0; count--) {
        const uint8_t *member = cursor->at;
        if (!need(cursor, 6))
            return false;
        cursor->at += 6;
        if (!class_attributes(cursor, member, visit, context))
            return false;
    }
    return true;
}

bool class_open(struct class_cursor *cursor, struct class_file *file)
{
    *cursor = (struct class_cursor){file, file->bytes, file->bytes + file->size};
    if (!need(cursor, 10))
        return false;
    if (load_u4(cursor->at) != 0xCAFEBABE)
        return class_malformed(file, cursor->at, "not a class file");
    if (file->size > INT32_MAX)
        return class_fault(file, REWRITE_UNSUPPORTED, 0, "a class file larger than 2 GiB");
    file->version = load_u2(cursor->at + 6);
    if (file->version < 45)
        return class_malformed(file, cursor->at + 6, "a class file version before 45");
    if (!pool_parse(file))
        return false;
    cursor->at = file->bytes + file->pool_end;
    if (!need(cursor, 8) || !need(cursor, 8 + 2 * (size_t) load_u2(cursor->at + 6)))
        return false;
    file->this_class = load_u2(cursor->at + 2);
    file->copied = file->pool_end;
    cursor->at += 8 + 2 * (size_t) load_u2(cursor->at + 6);
    return pool_class_name(file, file->this_class, &file->name);
}

/* ---- a method's code ---- */

static bool cut_short(struct class_file *file, const uint8_t *at)
{
    return class_malformed(file, at, "a Code attribute is truncated");
}

/* Checks an attribute of the code and finds the StackMapTable. */
static bool visit_code(void *context, const uint8_t *member, const uint8_t *attribute)
{
    struct method_code *method = context;
    struct class_text name;
    (void) member;
    if (!pool_text(method->file, load_u2(attribute), &name))
        return false;
    method->has_lines = method->has_lines || text_is(name, "LineNumberTable");
    if (method->file->version < VERSION_FRAMES || !text_is(name, "StackMapTable"))
        return true;
    if (method->frames != NULL)
        return class_malformed(method->file, attribute, "two StackMapTables");
    method->frames = attribute + 6;
    method->frames_end = method->frames + load_u4(attribute + 2);
    method->frames_name = load_u2(attribute);
    return true;
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
        return class_malformed(file, at, "a Code attribute with an invalid length");
    if ((size_t) (end - at) - 12 < method->length)
        return cut_short(file, at);
    at += 8 + method->length;
    method->handler_count = load_u2(at);
    method->handlers = at + 2;
    if ((size_t) (end - at) - 4 < 8 * method->handler_count)
        return cut_short(file, at);
    at += 2 + 8 * method->handler_count;
    method->attribute_count = load_u2(at);
    method->attributes = at + 2;
    struct class_cursor cursor = {file, at, end};
    if (!class_attributes(&cursor, NULL, visit_code, method))
        return false;
    method->attributes_end = cursor.at;
    return cursor.at == end || class_malformed(file, cursor.at, "bytes after a Code's attributes");
}

static bool ask_number(struct method_code *method)
{
    const struct rewrite_request *request = method->file->request;
    char *names[3];
    if (!request->method || request->method_number == NULL)
        return true;
    if (!callee_texts(method->file, &method->self, names))
        return false;
    method->number =
        request->method_number(request->context, names[0], names[1], names[2], method->access);
    return true;
}

static void rewrite_report(const struct method_code *method, enum rewrite_loss loss)
{
    const struct rewrite_request *request = method->file->request;
    char *names[3];
    if (request->left_alone != NULL && callee_texts(method->file, &method->self, names))
        request->left_alone(request->context, names[0], names[1], names[2], method->reason, loss);
}

static bool rewrite_put_attributes(struct method_code *method)
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

/* Only frames change the length of attributes, so one length is patched at the end. */
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
    if (!code_emit(method) || !code_put_handlers(method) || !rewrite_put_attributes(method))
        return false;
    patch_u4(output, place, (uint32_t) (output->used - place - 4));
    return true;
}

static const char outgrown[] = "with probes it is too large to be compiled (over 8000 bytes)";

/* Returns true if the JVM compiles the method as it was, but not as it is now. */
static bool outgrows(const struct method_code *method)
{
    uint32_t most = method->file->request->compiled_bytes;
    return most != 0 && method->length <= most && method->new_length > most;
}

/* Selects and writes probes. A failure leaves part of them in the output. */
static bool try_probes(struct method_code *method, const uint8_t *attribute)
{
    if (method->number != 0 && !pool_push(method->file, method->number, &method->push))
        return false;
    if (!method_scan(method))
        return false;
    if (!method->touched)
        return true;
    method->leaf = is_leaf_method(method);
    if (method->constructor && (method->number != 0 || method->stores_fields) &&
        !constructor_mark(method))
        return false;
    if (!code_layout(method))
        return false;
    if (outgrows(method) && !method->may_outgrow)
        return method_leave(method, outgrown);
    return put_code(method, attribute);
}

/* Removes the next kind of probes from the method. Returns false if there are none left. */
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

static bool try_again(struct method_code *method, const uint8_t *attribute, size_t used)
{
    method->file->output.used = used;
    method->reason = NULL;
    method->touched = false;
    method->trampoline_count = 0;
    return try_probes(method, attribute);
}

/* A method that outgrows what the JVM compiles gets no event probes if that helps. Otherwise it has
 * all probes and stays interpreted. */
static bool try_compiled(struct method_code *method, const uint8_t *attribute, size_t used)
{
    uint32_t number = method->number;
    bool done = try_probes(method, attribute);
    if (done || method->reason != outgrown)
        return done;
    if (number != 0) {
        method->number = 0;
        done = try_again(method, attribute, used);
        if (done || method->reason != outgrown) {
            const char *reason = method->reason;
            method->reason = outgrown;
            rewrite_report(method, LOSS_METHOD_EVENTS);
            method->reason = reason;
            return done;
        }
    }
    method->number = number;
    method->may_outgrow = true;
    return try_again(method, attribute, used);
}

static enum rewrite_loss next_loss(const struct method_code *method)
{
    return method->number != 0  ? LOSS_METHOD_EVENTS
           : method->references ? LOSS_STORES
                                : LOSS_ALLOCATIONS;
}

/* Writes a method with as many of its probes as are possible. A method that cannot have all probes
 * may still have those of its stores and allocations. The kinds are given up in the order of what a
 * trace loses least by: events of one method, then its stores, then its allocations, without which
 * objects would be missing. A failed attempt leaves part of the method in the output; it is cut
 * back to `used`. Constants that it has added stay in the pool and are used by the next one. */
static bool try_less(struct method_code *method, const uint8_t *attribute)
{
    size_t used = method->file->output.used;
    bool done = try_compiled(method, attribute, used);
    while (!done && method->reason != NULL) {
        if (method->number != 0 || method->alloc)
            rewrite_report(method, next_loss(method));
        if (!give_up_one(method)) {
            method->file->output.used = used;
            return true;
        }
        done = try_again(method, attribute, used);
    }
    if (done && method->touched && outgrows(method)) {
        method->reason = outgrown;
        rewrite_report(method, LOSS_COMPILATION);
    }
    if (done && method->touched)
        method->file->copied =
            (size_t) (attribute - method->file->bytes) + 6 + load_u4(attribute + 2);
    return done && code_places_report(method);
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
    method->marks = step_arena_take(&file->arena, method->length + 1, sizeof *method->marks);
    if (method->marks == NULL)
        return method_no_memory(method);
    return try_less(method, attribute);
}

/* Rewrites the Code attribute at `attribute`, whose length is checked. If the method gets a probe,
 * everything of the class up to the attribute and the new attribute are written to the output. */
static bool method_rewrite(struct class_file *file, const uint8_t *member, const uint8_t *attribute)
{
    struct method_code method = {.file = file, .output = &file->output, .access = load_u2(member)};
    method.self.owner = file->name;
    if (!pool_text(file, load_u2(member + 2), &method.self.name) ||
        !pool_text(file, load_u2(member + 4), &method.self.descriptor))
        return false;
    bool constructor = text_is(method.self.name, "<init>");
    method.object_init = constructor && text_is(file->name, "java/lang/Object");
    method.constructor = constructor && !method.object_init;
    return read_code(&method, attribute + 6, attribute + 6 + load_u4(attribute + 2)) &&
           rewrite_code(&method, attribute);
}

struct method_visit {
    struct class_file *file;
    const uint8_t *last; /* the last method with code */
};

static bool visit_method(void *context, const uint8_t *member, const uint8_t *attribute)
{
    struct method_visit *visit = context;
    struct class_text name;
    if (!pool_text(visit->file, load_u2(attribute), &name))
        return false;
    if (!text_is(name, "Code"))
        return true;
    if (visit->last == member)
        return class_malformed(visit->file, attribute, "a method with two Code attributes");
    visit->last = member;
    return method_rewrite(visit->file, member, attribute);
}

static bool read_class(struct class_file *file)
{
    struct class_cursor cursor;
    if (!class_open(&cursor, file))
        return false;
    if (text_is(file->name, PROBE_CLASS))
        return true;
    if (!class_members(&cursor, NULL, NULL) ||
        !class_members(&cursor, visit_method, &(struct method_visit){.file = file}) ||
        !class_attributes(&cursor, NULL, NULL, NULL))
        return false;
    return cursor.at == cursor.end ||
           class_malformed(file, cursor.at, "bytes after the class file");
}

/* Assembles the new class file: head, constants, added constants, the rest. New constants are put
 * behind the old ones, so no index in the file changes and nothing that the rewriter does not know
 * has to be read. What was not copied yet (`copied`) follows as it is. */
static bool rewrite_put_together(struct class_file *file, uint8_t **out, size_t *out_bytes)
{
    struct class_output whole = {0};
    put_bytes(&file->output, file->bytes + file->copied, file->size - file->copied);
    if (file->added.failed || file->output.failed || file->probes_measured.failed ||
        !output_reserve(&whole, file->pool_end + file->added.used + file->output.used))
        return class_fault(file, REWRITE_NO_MEMORY, 0, "out of memory");
    put_bytes(&whole, file->bytes, 8);
    put_u2(&whole, file->added_count);
    put_bytes(&whole, file->bytes + 10, file->pool_end - 10);
    put_bytes(&whole, file->added.bytes, file->added.used);
    put_bytes(&whole, file->output.bytes, file->output.used);
    *out = whole.bytes;
    *out_bytes = whole.used;
    file->result = REWRITE_CHANGED;
    return true;
}

enum rewrite_result class_rewrite(const struct rewrite_request *request, uint8_t **out,
                                  size_t *out_bytes, struct rewrite_error *error)
{
    struct class_file file = {.request = request,
                              .bytes = request->class_file,
                              .size = request->size_bytes,
                              .result = REWRITE_UNCHANGED};
    *out = NULL;
    *out_bytes = 0;
    if (read_class(&file) && file.copied != file.pool_end)
        rewrite_put_together(&file, out, out_bytes);
    if (file.result > REWRITE_UNCHANGED && error != NULL)
        *error = file.error;
    free(file.output.bytes);
    free(file.added.bytes);
    free(file.probes_measured.bytes);
    step_arena_reset(&file.arena);
    return file.result;
}
