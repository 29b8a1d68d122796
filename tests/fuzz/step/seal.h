/* SPDX-License-Identifier: Apache-2.0 */
/* Checksums of a changed trace, made good, so that what was changed is what readers see. */
#ifndef TESTS_FUZZ_STEP_SEAL_H
#define TESTS_FUZZ_STEP_SEAL_H

#include <stddef.h>
#include <stdint.h>

/* Makes every block header from the file header on good, with lengths that stay in the file. */
void seal_trace(uint8_t *bytes, size_t length);

#endif
