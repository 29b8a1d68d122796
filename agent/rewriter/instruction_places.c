/* SPDX-License-Identifier: Apache-2.0 */
/* Reports where the instructions of a rewritten method were before, for methods without line
 * numbers, whose call stacks name the instruction; and of a constructor that creates objects of its
 * own class: there only the instruction says whether a call of such a constructor makes the same
 * object. */
#include <string.h>

#include "agent/rewriter/method_code.h"
#include "format/core/bytes.h"

#define NEW 0xBBu
#define INVOKESPECIAL 0xB7u
#define LEAST_NEW_BYTES 3u
#define PLACE_BYTES_MOST 9u /* three varints of numbers below 1 << 18 */

/* Instructions `new` whose constructors are not called yet, in the order of the code. */
struct open_objects {
    uint32_t *offsets;
    size_t count;
    bool own_class; /* one of them was of the method's class */
};

static bool is_constructor_of(struct method_code *method, uint32_t offset, uint32_t made, bool *is)
{
    struct class_callee callee;
    struct class_text name;
    if (!pool_callee(method->file, load_u2(method->code + offset + 1), &callee) ||
        !pool_class_name(method->file, load_u2(method->code + made + 1), &name))
        return method_no_callee(method, offset);
    *is = text_is(callee.name, "<init>") && callee.owner.length == name.length &&
          memcmp(callee.owner.bytes, name.bytes, name.length) == 0;
    return true;
}

static bool is_of_own_class(struct method_code *method, uint32_t made)
{
    struct class_text name, own = method->self.owner;
    return pool_class_name(method->file, load_u2(method->code + made + 1), &name) &&
           name.length == own.length && memcmp(name.bytes, own.bytes, own.length) == 0;
}

/* Sets what the allocation at `offset` is known by: for the call of a constructor the `new` before
 * it, as the JVM has it. Calls of constructors are nested like parentheses, but for those of this
 * and super. */
static bool instruction_places_find(struct method_code *method, uint32_t offset,
                                    struct open_objects *open, uint32_t *place)
{
    *place = offset;
    if (method->code[offset] == NEW)
        open->offsets[open->count++] = offset;
    if (method->code[offset] != INVOKESPECIAL || open->count == 0)
        return true;
    bool is = false;
    if (!is_constructor_of(method, offset, open->offsets[open->count - 1], &is))
        return false;
    if (is) {
        *place = open->offsets[--open->count];
        open->own_class = open->own_class || is_of_own_class(method, *place);
    }
    return true;
}

static bool put_places(struct method_code *method, struct open_objects *open, uint8_t **end)
{
    uint32_t size, made, last_new = 0;
    for (uint32_t offset = 0; offset < method->length; offset += size) {
        uint32_t place = method->touched ? method->map[offset] : offset;
        size = instruction_size(method->code, method->length, offset);
        if (!instruction_places_find(method, offset, open, &made))
            return false;
        *end = step_varint_put(*end, place - last_new);
        *end = step_varint_put(*end, (uint64_t) size << 1 | (made != offset));
        if (made != offset)
            *end = step_varint_put(*end, offset - made);
        last_new = place;
    }
    return true;
}

bool code_places_report(struct method_code *method)
{
    const struct rewrite_request *request = method->file->request;
    char *names[3];
    bool by_index = method->touched && !method->has_lines;
    if (request->places == NULL || (!by_index && !method->constructor))
        return true;
    struct step_arena *arena = &method->file->arena;
    size_t most = method->length / LEAST_NEW_BYTES + 1;
    struct open_objects open = {.offsets = step_arena_take(arena, most, sizeof *open.offsets)};
    uint8_t *bytes = step_arena_take(arena, method->length, PLACE_BYTES_MOST), *end = bytes;
    if (open.offsets == NULL || bytes == NULL)
        return method_no_memory(method);
    if (!put_places(method, &open, &end))
        return false;
    if (!by_index && !open.own_class)
        return true;
    if (!callee_texts(method->file, &method->self, names))
        return false;
    request->places(request->context, names[0], names[1], names[2],
                    method->touched ? method->new_length : method->length, bytes,
                    (size_t) (end - bytes));
    return true;
}
