/* SPDX-License-Identifier: Apache-2.0 */
/* The zipped text reader on any bytes, as a ZIP file and as the text itself.  Lines that it takes
 * must format to what they were, or to less where controls were escaped. */
#include <stdlib.h>
#include <string.h>

#include "steptrace/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Compares the lines, formatted again, unless `text` is NULL. */
static void drain(struct step_text_reader *reader, const uint8_t *text)
{
    struct step_text_event event;
    uint64_t at = 0;
    while (step_text_reader_next(reader, &event, NULL) == STEP_STATUS_OK) {
        char *line = malloc(STEP_TEXT_LINE_SPACE(STEP_TEXT_ESCAPED_MAX(event.class_name.length),
                                                 STEP_TEXT_ESCAPED_MAX(event.method_name.length)));
        size_t length = step_text_format(&event, line);
        uint64_t end = step_text_reader_offset(reader), taken = end - at;
        if (length == 0 || length > taken ||
            (text != NULL && length == taken && memcmp(line, text + at, length) != 0))
            abort();
        at = end;
        free(line);
    }
    step_text_reader_destroy(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct step_text_reader *reader;
    struct step_error error;
    if (step_text_reader_open_plain(data, size, "plain", &reader, &error) == STEP_STATUS_OK)
        drain(reader, data);
    if (step_text_reader_open_memory(data, size, "zip", &reader, &error) == STEP_STATUS_OK)
        drain(reader, NULL);
    return 0;
}
