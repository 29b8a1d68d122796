/* SPDX-License-Identifier: Apache-2.0 */
/* HATF's lines on any bytes, packed or not.  What reads must be written as a line that reads as the
 * same. */
#include <stdlib.h>
#include <string.h>

#include "steptrace/hatf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char line[HATF_LINE_MAX];
    static char again[HATF_LINE_MAX];
    static uint8_t bytes[HATF_LINE_MAX];
    struct hatf_text_reader *reader;
    struct hatf_record record;
    if (hatf_text_reader_open_memory(data, size, "fuzz", &reader, NULL) != STEP_STATUS_OK)
        return 0;
    for (unsigned i = 0; i < 5000 && hatf_text_reader_next(reader, &record, NULL) == STEP_STATUS_OK;
         i++) {
        struct hatf_record back;
        size_t length = hatf_line_format(&record, line);
        if (length == 0 || hatf_line_parse(line, length - 1, &back, bytes) != NULL ||
            hatf_line_format(&back, again) != length || memcmp(line, again, length) != 0)
            abort();
    }
    hatf_text_reader_destroy(reader);
    return 0;
}
