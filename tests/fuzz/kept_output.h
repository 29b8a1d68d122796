/* SPDX-License-Identifier: Apache-2.0 */
/* An output of a writer in memory that is as long as what was written: a sanitizer sees who reads
 * beyond it. */
#ifndef TESTS_FUZZ_KEPT_OUTPUT_H
#define TESTS_FUZZ_KEPT_OUTPUT_H

#include <stdlib.h>
#include <string.h>

#include "steptrace/writer.h"

struct kept_output {
    uint8_t *data; /* free() it */
    size_t length;
};

static inline enum step_status kept_output_write(void *user, const void *data, size_t length,
                                                 struct step_error *error)
{
    struct kept_output *output = user;
    (void) error;
    if (length == 0)
        return STEP_STATUS_OK;
    output->data = realloc(output->data, output->length + length);
    if (output->data == NULL)
        abort();
    memcpy(output->data + output->length, data, length);
    output->length += length;
    return STEP_STATUS_OK;
}

static inline struct step_output kept_output_of(struct kept_output *output)
{
    return (struct step_output){output, kept_output_write};
}

#endif
