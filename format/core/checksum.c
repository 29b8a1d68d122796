/* SPDX-License-Identifier: Apache-2.0 */
/* Checksums by xxhash, which is compiled in to avoid a library dependency. */
#include "format/core/checksum.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t step_checksum(const void *data, size_t length)
{
    return XXH3_64bits(data, length);
}
