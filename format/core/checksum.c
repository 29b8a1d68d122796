/* SPDX-License-Identifier: Apache-2.0 */
/* Checksums, by libxxhash. */
#include "format/core/checksum.h"

#include <xxhash.h>

uint64_t step_checksum(const void *data, size_t length)
{
    return XXH3_64bits(data, length);
}
