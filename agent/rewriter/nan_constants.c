/* SPDX-License-Identifier: Apache-2.0 */
/* Removes unused NaN constants. HotSpot compares the constants of a class and of its new version by
 * value, and NaN does not equal itself: each retransformation adds every NaN of the constant pool
 * once more. If the next class file is generated from that pool, their number doubles. So NaNs to
 * which nothing refers are replaced by zeros, which the JVM recognises. */
#include <stdlib.h>

#include "agent/rewriter/class_file.h"
#include "agent/rewriter/method_code.h"

struct nan_search {
    struct class_file file;
    uint8_t *is_nan; /* by index; 0: not, or in use */
    size_t count;
};

static bool is_nan(const uint8_t *constant)
{
    uint32_t high = load_u4(constant + 1) & 0x7fffffff;
    if (constant[0] == CONSTANT_FLOAT)
        return high > 0x7f800000;
    return constant[0] == CONSTANT_DOUBLE &&
           (high > 0x7ff00000 || (high == 0x7ff00000 && load_u4(constant + 5) != 0));
}

static bool nan_constants_find(struct nan_search *search)
{
    struct class_file *file = &search->file;
    search->is_nan = step_arena_zeroed(&file->arena, file->constant_count);
    if (search->is_nan == NULL)
        return false;
    for (uint32_t i = 1; i < file->constant_count; i++)
        if (file->constants[i] != 0 && is_nan(file->bytes + file->constants[i])) {
            search->is_nan[i] = 1;
            search->count++;
        }
    return search->count != 0;
}

static void nan_constants_keep(struct nan_search *search, uint32_t index)
{
    if (index < search->file.constant_count && search->is_nan[index] != 0) {
        search->is_nan[index] = 0;
        search->count--;
    }
}

static bool keep_of_code(struct nan_search *search, const uint8_t *code, uint32_t length)
{
    uint32_t size;
    for (uint32_t offset = 0; offset < length; offset += size) {
        size = instruction_size(code, length, offset);
        if (size == 0)
            return false;
        if (code[offset] == 0x12) /* ldc */
            nan_constants_keep(search, code[offset + 1]);
        else if (code[offset] == 0x13 || code[offset] == 0x14) /* ldc_w, ldc2_w */
            nan_constants_keep(search, load_u2(code + offset + 1));
    }
    return true;
}

/* In attributes other than Code, every number that may be an index counts as one. */
static bool keep_of_attribute(void *context, const uint8_t *member, const uint8_t *attribute)
{
    struct nan_search *search = context;
    struct class_text name;
    size_t size = load_u4(attribute + 2);
    (void) member;
    if (!pool_text(&search->file, load_u2(attribute), &name))
        return false;
    if (text_is(name, "Code")) {
        uint32_t length = size >= 8 ? load_u4(attribute + 10) : 0;
        return size >= 8 && length <= size - 8 && keep_of_code(search, attribute + 14, length);
    }
    for (size_t i = 0; i + 2 <= size; i++)
        nan_constants_keep(search, load_u2(attribute + 6 + i));
    return true;
}

/* Returns a copy with zeros in their place, which take as many bytes and pool entries. */
static uint8_t *without_them(const struct nan_search *search)
{
    const struct class_file *file = &search->file;
    uint8_t *copy = malloc(file->size);
    if (copy == NULL)
        return NULL;
    memcpy(copy, file->bytes, file->size);
    for (uint32_t i = 1; i < file->constant_count; i++) {
        if (search->is_nan[i] == 0)
            continue;
        uint8_t *constant = copy + file->constants[i];
        bool is_float = constant[0] == CONSTANT_FLOAT;
        constant[0] = is_float ? CONSTANT_INTEGER : CONSTANT_LONG;
        memset(constant + 1, 0, is_float ? 4 : 8);
    }
    return copy;
}

/* NaNs in use stay: they are what the program computes with, and each redefinition adds them once
 * more. An instruction that is not known could be a use that is overlooked; then the file is left
 * as it is. */
uint8_t *class_without_spare_nans(const uint8_t *class_file, size_t size_bytes)
{
    struct nan_search search = {.file = {.bytes = class_file, .size = size_bytes}};
    struct class_cursor cursor;
    uint8_t *copy = NULL;
    if (class_open(&cursor, &search.file) && nan_constants_find(&search) &&
        class_members(&cursor, keep_of_attribute, &search) &&
        class_members(&cursor, keep_of_attribute, &search) &&
        class_attributes(&cursor, NULL, keep_of_attribute, &search) && search.count != 0)
        copy = without_them(&search);
    step_arena_reset(&search.file.arena);
    return copy;
}
