/* SPDX-License-Identifier: Apache-2.0 */
/* A whole class file: goes through its members and puts the new one together. */
#include <stdio.h>
#include <stdlib.h>

#include "agent/rewriter/class_file.h"
#include "agent/rewriter/method_rewrite.h"

bool class_fault(struct class_file *file, enum rewrite_result result, size_t offset,
                 const char *message)
{
    file->result = result;
    file->error.offset = offset;
    snprintf(file->error.message, sizeof file->error.message, "%s", message);
    return false;
}

/* Where the reading of the class file has come to. */
struct cursor {
    struct class_file *file;
    const uint8_t *at, *end;
};

static bool need(struct cursor *cursor, size_t bytes)
{
    if ((size_t) (cursor->end - cursor->at) >= bytes)
        return true;
    return class_malformed(cursor->file, cursor->at, "the class file is cut short");
}

/* An attribute; *attribute is its start. */
static bool next_attribute(struct cursor *cursor, const uint8_t **attribute)
{
    if (!need(cursor, 6) || !need(cursor, (size_t) 6 + load_u4(cursor->at + 2)))
        return false;
    *attribute = cursor->at;
    cursor->at += (size_t) 6 + load_u4(cursor->at + 2);
    return true;
}

static bool skip_attributes(struct cursor *cursor)
{
    const uint8_t *attribute;
    if (!need(cursor, 2))
        return false;
    uint32_t count = load_u2(cursor->at);
    cursor->at += 2;
    while (count > 0 && next_attribute(cursor, &attribute))
        count--;
    return count == 0;
}

static bool skip_fields(struct cursor *cursor)
{
    if (!need(cursor, 2))
        return false;
    uint32_t count = load_u2(cursor->at);
    cursor->at += 2;
    for (; count > 0; count--) {
        if (!need(cursor, 6))
            return false;
        cursor->at += 6;
        if (!skip_attributes(cursor))
            return false;
    }
    return true;
}

static bool do_method(struct cursor *cursor)
{
    struct class_file *file = cursor->file;
    struct method_head head;
    struct class_text name;
    const uint8_t *attribute, *code = NULL;
    if (!need(cursor, 8))
        return false;
    head.access = load_u2(cursor->at);
    if (!pool_text(file, load_u2(cursor->at + 2), &head.name) ||
        !pool_text(file, load_u2(cursor->at + 4), &head.descriptor))
        return false;
    uint32_t count = load_u2(cursor->at + 6);
    cursor->at += 8;
    for (; count > 0; count--) {
        if (!next_attribute(cursor, &attribute) || !pool_text(file, load_u2(attribute), &name))
            return false;
        if (!text_is(name, "Code"))
            continue;
        if (code != NULL)
            return class_malformed(file, attribute, "a method with two Code attributes");
        code = attribute;
    }
    return code == NULL || method_rewrite(file, &head, code);
}

static bool do_methods(struct cursor *cursor)
{
    if (!need(cursor, 2))
        return false;
    uint32_t count = load_u2(cursor->at);
    cursor->at += 2;
    while (count > 0 && do_method(cursor))
        count--;
    return count == 0;
}

static bool read_head(struct cursor *cursor)
{
    struct class_file *file = cursor->file;
    if (!need(cursor, 10))
        return false;
    if (load_u4(cursor->at) != 0xCAFEBABE)
        return class_malformed(file, cursor->at, "no class file");
    if (file->size > INT32_MAX)
        return class_fault(file, REWRITE_UNSUPPORTED, 0, "a class file over 2 GiB");
    file->version = load_u2(cursor->at + 6);
    if (file->version < 45)
        return class_malformed(file, cursor->at + 6, "a class file version before 45");
    if (file->version > REWRITE_NEWEST_VERSION)
        return class_fault(file, REWRITE_UNSUPPORTED, 6, "an unknown class file version");
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

static bool read_class(struct class_file *file)
{
    struct cursor cursor = {file, file->bytes, file->bytes + file->size};
    if (!read_head(&cursor))
        return false;
    if (text_is(file->name, PROBE_CLASS))
        return true;
    if (!skip_fields(&cursor) || !do_methods(&cursor) || !skip_attributes(&cursor))
        return false;
    return cursor.at == cursor.end ||
           class_malformed(file, cursor.at, "bytes after the class file");
}

/* The new class file: head, constants, added constants, the rest. */
static bool put_together(struct class_file *file, uint8_t **out, size_t *out_bytes)
{
    struct class_output whole = {0};
    put_bytes(&file->output, file->bytes + file->copied, file->size - file->copied);
    if (file->added.failed || file->output.failed ||
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
        put_together(&file, out, out_bytes);
    if (file.result > REWRITE_UNCHANGED && error != NULL)
        *error = file.error;
    free(file.output.bytes);
    free(file.added.bytes);
    arena_reset(&file.arena);
    return file.result;
}
