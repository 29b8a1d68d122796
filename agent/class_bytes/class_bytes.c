/* SPDX-License-Identifier: Apache-2.0 */
/* Grows the output of class file bytes. */
#include "agent/class_bytes/class_bytes.h"

#include "format/core/grow.h"

bool output_reserve(struct class_output *output, size_t count)
{
    if (output->failed)
        return false;
    if (output->room - output->used >= count)
        return true;
    uint8_t *bytes = step_grown(output->bytes, &output->room, output->used + count, 1);
    if (bytes == NULL) {
        output->failed = true;
        output->room = output->used; /* nothing fits from now on */
        return false;
    }
    output->bytes = bytes;
    return true;
}
