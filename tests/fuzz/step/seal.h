/* SPDX-License-Identifier: Apache-2.0 */
/* Checksums of a changed trace, made good, so that what was changed is what readers see. */
#ifndef TESTS_FUZZ_STEP_SEAL_H
#define TESTS_FUZZ_STEP_SEAL_H

#include <stddef.h>
#include <stdint.h>

/* Makes every block header from the file header on good, with lengths that stay in the file. */
void seal_trace(uint8_t *bytes, size_t length);

/* An input's head: a byte, and where that is odd 8 changes, each of 2 bytes place and 1 byte value.
 * The input may be shorter. */
size_t seal_head_bytes(const uint8_t *data, size_t size);
/* Makes the changes in the trace, if there are any, and seals it. */
void seal_changed_trace(const uint8_t *head, size_t head_bytes, uint8_t *bytes, size_t length);

#endif
