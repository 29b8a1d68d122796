/* SPDX-License-Identifier: Apache-2.0 */
/* A live file in memory, recovered into a trace in memory. */
#include "tests/fuzz/live/recover_bytes.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "format/core/bytes.h"
#include "format/io/memory_output.h"
#include "steptrace/live.h"

void recover_bytes(const uint8_t *data, size_t size, const struct step_definition *definition)
{
    char path[64];
    struct step_buffer bytes = {0};
    struct step_writer_options options;
    struct step_writer *writer = NULL;
    int descriptor = memfd_create("live", 0);
    if (descriptor < 0)
        return;
    if (write(descriptor, data, size) == (ssize_t) size) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
        step_writer_options_init(&options);
        options.definition = definition;
        options.output = step_memory_output(&bytes);
        if (step_writer_create(&options, &writer, NULL) == STEP_STATUS_OK) {
            step_live_recover(path, writer, NULL, NULL);
            step_writer_close(writer, NULL);
        }
        step_writer_destroy(writer);
        step_buffer_reset(&bytes);
    }
    close(descriptor);
}
