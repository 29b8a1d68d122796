/* SPDX-License-Identifier: Apache-2.0 */
/* Grows the output of class file bytes. */
#include "agent/class_bytes/class_bytes.h"

#include <stdlib.h>

bool output_reserve(struct class_output *output, size_t count)
{
    if (output->failed)
        return false;
    if (output->room - output->used >= count)
        return true;
    size_t room = output->room + output->room / 2 + count + 256;
    uint8_t *bytes = realloc(output->bytes, room);
    if (bytes == NULL) {
        output->failed = true;
        output->room = output->used; /* nothing fits from now on */
        return false;
    }
    output->bytes = bytes;
    output->room = room;
    return true;
}
