/* SPDX-License-Identifier: Apache-2.0 */
/* Passes the methods in a constant pool to a callback. */
#include "agent/rewriter/callees.h"

bool class_has_callee(const uint8_t *bytes, size_t size_bytes,
                      bool (*is_wanted)(void *context, const struct class_callee *callee),
                      void *context)
{
    struct class_file file = {.bytes = bytes, .size = size_bytes, .result = REWRITE_UNCHANGED};
    bool has = false;
    if (size_bytes >= 10 && load_u4(bytes) == 0xCAFEBABE && pool_parse(&file))
        for (uint32_t i = 1; i < file.constant_count && !has; i++) {
            struct class_callee callee;
            uint32_t tag = file.constants[i] != 0 ? bytes[file.constants[i]] : 0;
            has = (tag == CONSTANT_METHOD || tag == CONSTANT_INTERFACE_METHOD) &&
                  pool_callee(&file, i, &callee) && is_wanted(context, &callee);
        }
    arena_reset(&file.arena);
    return has;
}
