/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a class's source map: names that it returns are part of the map's text. */
#include <stdlib.h>
#include <string.h>

#include "converter/trace/source_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_within(struct step_bytes part, const uint8_t *text, size_t size)
{
    if (part.length > 0 && (part.data < text || part.length > size ||
                            (size_t) (part.data - text) > size - part.length))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct source_map *map = source_map_create((struct step_bytes){data, size});
    for (uint64_t line = 0; line < 100; line++) {
        struct frame_place place = {.line = line < 90 ? line : UINT64_MAX - line};
        source_map_find(map, &place);
        check_within(place.file, data, size);
        check_within(place.directory, data, size);
    }
    source_map_destroy(map);
    return 0;
}
