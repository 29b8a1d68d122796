/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a live file of a Java program. */
#include "steptrace/java_trace.h"
#include "tests/fuzz/live/recover_bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    recover_bytes(data, size, &step_java_trace_definition);
    return 0;
}
