/* SPDX-License-Identifier: Apache-2.0 */
/* The HATF reader on any bytes.  Records that it takes must be written as what they were. */
#include <stdlib.h>
#include <string.h>

#include "steptrace/hatf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct comparison {
    const uint8_t *data;
    size_t size;
    size_t at;
};

static enum step_status compare(void *user, const void *data, size_t length,
                                struct step_error *error)
{
    struct comparison *comparison = user;
    (void) error;
    if (length > comparison->size - comparison->at ||
        memcmp(data, comparison->data + comparison->at, length) != 0)
        abort();
    comparison->at += length;
    return STEP_STATUS_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct comparison comparison = {data, size, 0};
    const struct step_output output = {&comparison, compare};
    struct hatf_reader *reader;
    struct hatf_writer *writer;
    struct hatf_record record;
    struct step_error error;
    if (hatf_reader_create_memory(data, size, "fuzz", &reader, &error) != STEP_STATUS_OK)
        return 0;
    if (hatf_writer_create(&output, &writer, &error) == STEP_STATUS_OK) {
        while (hatf_reader_next(reader, &record, &error) == STEP_STATUS_OK) {
            if (hatf_writer_put(writer, &record, NULL, &error) != STEP_STATUS_OK)
                abort();
        }
        if (hatf_writer_close(writer, &error) != STEP_STATUS_OK ||
            comparison.at != hatf_reader_offset(reader))
            abort();
        hatf_writer_destroy(writer);
    }
    hatf_reader_destroy(reader);
    return 0;
}
