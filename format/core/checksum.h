/* SPDX-License-Identifier: Apache-2.0 */
/* The checksum of all parts of a trace file: XXH3, 64 bits, seed 0. */
#ifndef FORMAT_CORE_CHECKSUM_H
#define FORMAT_CORE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

uint64_t step_checksum(const void *data, size_t length);

#endif
