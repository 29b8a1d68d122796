/* SPDX-License-Identifier: Apache-2.0 */
/* Adjusts the tables of a method that contain code offsets, except the StackMapTable. */
#include "agent/rewriter/method_code.h"

static void code_tables_put_row(struct class_output *output, uint32_t start, uint32_t end,
                                uint32_t handler, uint32_t type)
{
    put_u2(output, start);
    put_u2(output, end);
    put_u2(output, handler);
    put_u2(output, type);
}

/* Writes the catch-all for everything except code before super(), and trampolines, whose frames may
 * have an uninitialised this. Returns the number of rows. */
static uint32_t put_unwinding_rows(struct method_code *method)
{
    struct class_output *output = &method->file->output;
    uint32_t rows = 0, size, start = method->length;
    const struct trampoline *first;
    for (uint32_t offset = 0; offset < method->length; offset += size) {
        size = instruction_size(method->code, method->length, offset);
        bool covered = (method->marks[offset] & MARK_UNINITIALIZED) == 0;
        bool broken = slot_trampolines(method, offset, &first) > 0;
        if (start != method->length && (!covered || broken)) {
            code_tables_put_row(output, method->map[start], range_end(method, offset),
                                method->handler, 0);
            rows++;
            start = method->length;
        }
        if (covered && start == method->length)
            start = offset;
    }
    if (start != method->length) {
        code_tables_put_row(output, method->map[start], method->map[method->length],
                            method->handler, 0);
        rows++;
    }
    return rows;
}

static void put_guard_row(struct method_code *method, struct guard guard)
{
    code_tables_put_row(&method->file->output, guard_start(guard), guard_end(method, guard),
                        guard_handler(method, guard), 0);
}

/* The guards come before the program's handlers, which cover the probes as well. */
static uint32_t put_guards(struct method_code *method)
{
    uint32_t rows = 0;
    for (uint32_t offset = 0; method->catches && offset < method->length; offset++) {
        if ((method->marks[offset] & MARK_CAUGHT) != 0) {
            put_guard_row(method, caught_guard(method, offset));
            rows++;
        }
    }
    if (has_unwinding(method))
        put_guard_row(method, unwind_guard(method));
    return rows + has_unwinding(method);
}

/* Writes the exception table. The JVM takes the first row that fits, so the order decides. The
 * guards are first: the program's handlers may cover the probes. The catch-all of the method is
 * last: an exception that the program handles has not left the method. Annotations refer to rows by
 * number, which the guards shift (patch_row()). */
bool code_put_handlers(struct method_code *method)
{
    struct class_output *output = &method->file->output;
    size_t count_place = output->used;
    put_u2(output, 0);
    method->guard_count = put_guards(method);
    uint32_t rows = method->guard_count + method->handler_count;
    for (uint32_t i = 0; i < method->handler_count; i++) {
        const uint8_t *row = method->handlers + 8 * i;
        code_tables_put_row(output, method->map[load_u2(row)], range_end(method, load_u2(row + 2)),
                            method->map[load_u2(row + 4)], load_u2(row + 6));
    }
    if (has_unwinding(method))
        rows += put_unwinding_rows(method);
    if (rows > 0xFFFF)
        return method_leave(method, "its exception table would be too long");
    patch_u2(output, count_place, rows);
    return true;
}

/* Returns where a range that begins at an old offset begins. One from the start of the code
 * includes the entry probe. */
static uint32_t start_place(const struct method_code *method, uint32_t offset)
{
    return offset == 0 ? 0 : method->map[offset];
}

/* Both tables of an attribute begin with their number of rows. */
static bool rows_fit(struct method_code *method, const uint8_t *content, uint32_t length,
                     uint32_t row_bytes)
{
    if (length >= 2 && length == 2 + row_bytes * (uint32_t) load_u2(content))
        return true;
    return class_malformed(method->file, content, "a table's length is not that of its rows");
}

static bool put_lines(struct method_code *method, const uint8_t *content, uint32_t length)
{
    struct class_output *output = &method->file->output;
    if (!rows_fit(method, content, length, 4))
        return false;
    put_bytes(output, content, 2);
    for (const uint8_t *row = content + 2; row < content + length; row += 4) {
        if (load_u2(row) >= method->length)
            return class_malformed(method->file, row, "a line number of an invalid instruction");
        put_u2(output, start_place(method, load_u2(row)));
        put_bytes(output, row + 2, 2);
    }
    return true;
}

/* Overwrites a range's start and length. */
static bool patch_range(const struct method_code *method, uint8_t *range)
{
    uint32_t start = load_u2(range), end = start + load_u2(range + 2);
    if (end > method->length)
        return false;
    uint32_t place = start_place(method, start);
    store_u2(range, place);
    store_u2(range + 2, (end == 0 ? 0 : method->map[end]) - place);
    return true;
}

static bool put_variables(struct method_code *method, const uint8_t *content, uint32_t length)
{
    struct class_output *output = &method->file->output;
    if (!rows_fit(method, content, length, 10))
        return false;
    put_bytes(output, content, 2);
    for (const uint8_t *row = content + 2; row < content + length; row += 10) {
        uint8_t copy[10];
        memcpy(copy, row, sizeof copy);
        if (!patch_range(method, copy))
            return class_malformed(method->file, row, "a local variable's range exceeds the code");
        put_bytes(output, copy, sizeof copy);
    }
    return true;
}

/* A reader of annotations, which patches them as it goes, up to the first fault. */
struct annotations {
    const struct method_code *method;
    uint8_t *at, *end;
    bool failed;
    uint8_t none[6]; /* what is read after a fault */
};

#define ANNOTATION_DEPTH 64

/* Returns the next bytes, at most as many as `none` has. */
static uint8_t *code_tables_take(struct annotations *from, size_t bytes)
{
    from->failed = from->failed || (size_t) (from->end - from->at) < bytes;
    if (from->failed)
        return from->none;
    from->at += bytes;
    return from->at - bytes;
}

static void skip_annotation(struct annotations *from, int depth);

static void skip_element(struct annotations *from, int depth)
{
    from->failed = from->failed || depth > ANNOTATION_DEPTH;
    switch (*code_tables_take(from, 1)) {
    case 'e':
        code_tables_take(from, 4);
        break;
    case '@':
        skip_annotation(from, depth + 1);
        break;
    case '[':
        for (uint32_t count = load_u2(code_tables_take(from, 2)); count > 0 && !from->failed;
             count--)
            skip_element(from, depth + 1);
        break;
    default:
        code_tables_take(from, 2);
        break;
    }
}

static void skip_annotation(struct annotations *from, int depth)
{
    code_tables_take(from, 2);
    for (uint32_t pairs = load_u2(code_tables_take(from, 2)); pairs > 0 && !from->failed; pairs--) {
        code_tables_take(from, 2);
        skip_element(from, depth);
    }
}

static void patch_offset(struct annotations *from)
{
    uint8_t *at = code_tables_take(from, 2);
    uint32_t offset = load_u2(at);
    from->failed = from->failed || offset >= from->method->length ||
                   (from->method->marks[offset] & MARK_START) == 0;
    if (!from->failed)
        store_u2(at, instruction_place(from->method, offset));
}

/* The rows of the guards come before the program's rows. */
static void patch_row(struct annotations *from)
{
    uint8_t *at = code_tables_take(from, 2);
    from->failed = from->failed || load_u2(at) >= from->method->handler_count;
    if (!from->failed)
        store_u2(at, load_u2(at) + from->method->guard_count);
}

static void patch_ranges(struct annotations *from)
{
    for (uint32_t count = load_u2(code_tables_take(from, 2)); count > 0 && !from->failed; count--) {
        uint8_t *range = code_tables_take(from, 6);
        from->failed = from->failed || !patch_range(from->method, range);
    }
}

/* Patches the target of an annotation in code. */
static void patch_target(struct annotations *from)
{
    uint32_t kind = *code_tables_take(from, 1);
    if (kind == 0x40 || kind == 0x41) {
        patch_ranges(from);
    } else if (kind == 0x42) {
        patch_row(from);
    } else if (kind >= 0x43 && kind <= 0x4B) {
        patch_offset(from);
        code_tables_take(from, kind >= 0x47 ? 1 : 0);
    } else {
        from->failed = true;
    }
}

/* The JVM does not read these annotations, so malformed ones are left as they are. */
static void patch_annotations(const struct method_code *method, uint8_t *content, uint32_t length)
{
    struct annotations from = {.method = method, .at = content, .end = content + length};
    for (uint32_t count = load_u2(code_tables_take(&from, 2)); count > 0 && !from.failed; count--) {
        patch_target(&from);
        for (uint32_t steps = *code_tables_take(&from, 1); steps > 0; steps--)
            code_tables_take(&from, 2);
        skip_annotation(&from, 0);
    }
}

static void put_annotations(struct method_code *method, const uint8_t *content, uint32_t length)
{
    struct class_output *output = &method->file->output;
    size_t place = output->used;
    put_bytes(output, content, length);
    if (!output->failed)
        patch_annotations(method, output->bytes + place, length);
}

bool code_put_attribute(struct method_code *method, const uint8_t *attribute)
{
    struct class_text name;
    const uint8_t *content = attribute + 6;
    uint32_t length = load_u4(attribute + 2);
    if (!pool_text(method->file, load_u2(attribute), &name))
        return false;
    put_bytes(&method->file->output, attribute, 6);
    if (text_is(name, "LineNumberTable"))
        return put_lines(method, content, length);
    if (text_is(name, "LocalVariableTable") || text_is(name, "LocalVariableTypeTable"))
        return put_variables(method, content, length);
    if (text_is(name, "RuntimeVisibleTypeAnnotations") ||
        text_is(name, "RuntimeInvisibleTypeAnnotations"))
        put_annotations(method, content, length);
    else if (method->file->version > REWRITE_NEWEST_VERSION)
        return class_fault(method->file, REWRITE_UNSUPPORTED,
                           (size_t) (attribute - method->file->bytes),
                           "a class file of an unknown version, with an unknown attribute of code");
    else
        put_bytes(&method->file->output, content, length);
    return true;
}
