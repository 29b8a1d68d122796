/* SPDX-License-Identifier: Apache-2.0 */
/* The memory limit of a reader.  A separate file, because libraries of traced programs have
 * dictionaries but no reader. */
#include "format/step/read/reader_internal.h"
#include "format/step/rows/row_read.h"

/* The limit grows with the stored bytes.  A file of a few hundred bytes cannot ask for gigabytes,
 * while a large trace of many threads, whose blocks overlap in time, gets what it needs. */
uint64_t step_reader_room(const struct step_reader *reader)
{
    const struct step_block_reader *blocks = &reader->blocks;
    uint64_t stored = reader->file.size + reader->live_bytes.length;
    uint64_t most = stored > UINT64_MAX / 2 / STEP_READER_MEMORY_FACTOR
                        ? UINT64_MAX / 2
                        : STEP_MAX_READER_MEMORY + stored * STEP_READER_MEMORY_FACTOR;
    uint64_t buffers =
        blocks->scratch.raw.capacity + (blocks->rows != NULL ? blocks->rows->rows.capacity : 0);
    uint64_t taken = reader->dictionary_memory + buffers;
    return taken < most ? most - taken : 0;
}
