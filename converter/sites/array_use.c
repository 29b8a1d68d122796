/* SPDX-License-Identifier: Apache-2.0 */
/* Follows how far an array is used. */
#include "converter/sites/array_use.h"

#include <stddef.h>

static void use_up_to(uint32_t *used, uint64_t end)
{
    if (end > *used)
        *used = end < UINT32_MAX ? (uint32_t) end : UINT32_MAX;
}

void array_use_store(struct array_use *use, uint64_t index, bool is_reference)
{
    if (index >= UINT32_MAX)
        return;
    if (is_reference)
        use_up_to(&use->least, index + 1);
    use_up_to(&use->most, index + 1);
}

/* Returns how many of the elements [from, from + length) are below `used`. */
static uint64_t used_in(uint32_t used, uint64_t from, uint64_t length)
{
    uint64_t rest = used > from ? used - from : 0;
    return rest < length ? rest : length;
}

void array_use_copy(struct array_use *use, uint64_t to, const struct array_use *source,
                    uint64_t from, uint64_t length)
{
    const struct array_use copied = source != NULL ? *source : ARRAY_USE_UNKNOWN;
    if (to >= UINT32_MAX || length >= UINT32_MAX)
        return;
    uint64_t least = used_in(copied.least, from, length);
    uint64_t most = source != NULL ? used_in(copied.most, from, length) : length;
    if (least > 0)
        use_up_to(&use->least, to + least);
    if (most > 0)
        use_up_to(&use->most, to + most);
}
