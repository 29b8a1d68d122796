/* SPDX-License-Identifier: Apache-2.0 */
/* Grows the output of class file bytes. */
#include "agent/rewriter/class_bytes.h"

#include "format/core/grow.h"

bool output_reserve(struct class_output *output, size_t count)
{
    if (output->failed)
        return false;
    if (!step_room(&output->bytes, &output->room, output->used + count, 1)) {
        output->failed = true;
        output->room = output->used; /* nothing fits from now on */
    }
    return !output->failed;
}
