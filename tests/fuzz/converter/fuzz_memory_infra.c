/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON reader and the import of heap dumps on any bytes.  What is taken has to add up: rows and
 * entries are those of the total. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "converter/formats/memory_infra/memory_infra.h"
#include "converter/heap/heap_dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_rows(const struct memory_infra *infra, const struct heap_snapshot *snapshot)
{
    uint64_t bytes = 0, objects = 0;
    for (size_t i = 0; i < snapshot->count; i++) {
        if (snapshot->rows[i].key.site >= infra->sites.count)
            abort();
        bytes += snapshot->rows[i].live.bytes;
        objects += snapshot->rows[i].live.objects;
    }
    if (bytes != snapshot->live.bytes || objects != snapshot->live.objects)
        abort();
}

static enum step_status take(void *user, const struct memory_infra_dump *given,
                             struct step_error *error)
{
    struct memory_infra *infra = user;
    struct memory_infra_dump dump = *given;
    struct heap_snapshot snapshot;
    struct heap_dump entries;
    const struct heap_dump_options options = {.with_classes = true};
    enum step_status status = memory_infra_rows(infra, &dump, false, &snapshot, error);
    if (status != STEP_STATUS_OK)
        return status;
    check_rows(infra, &snapshot);
    if (!heap_dump_make(&infra->sites, &snapshot, &options, &entries) ||
        entries.entries[0].bytes != snapshot.live.bytes)
        abort();
    heap_dump_reset(&entries);
    heap_snapshot_reset(&snapshot);
    return STEP_STATUS_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    struct memory_infra infra;
    struct step_error error;
    int file = memfd_create("fuzz", MFD_CLOEXEC);
    if (file < 0 || write(file, data, size) != (ssize_t) size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    enum step_status status = memory_infra_open(&infra, path, &error);
    if (status != STEP_STATUS_NO_MEMORY && status != STEP_STATUS_FORMAT)
        memory_infra_each(&infra, NULL, take, &infra, &error);
    memory_infra_reset(&infra);
    close(file);
    return 0;
}
