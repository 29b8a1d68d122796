/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a live file beside a trace of some definition. */
#ifndef TESTS_FUZZ_LIVE_RECOVER_BYTES_H
#define TESTS_FUZZ_LIVE_RECOVER_BYTES_H

#include "steptrace/writer.h"

void recover_bytes(const uint8_t *data, size_t size, const struct step_definition *definition);

#endif
