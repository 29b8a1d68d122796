/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What threads had given away when the trace ended, without a record that tells of it: a realloc
 * that had begun.  Others may have the address by then.
 */
#ifndef MALLOC_RECORDER_DRAIN_OWED_FREES_H
#define MALLOC_RECORDER_DRAIN_OWED_FREES_H

#include <stdbool.h>

#include "capture/live_map.h"
#include "format/live/live_allocs.h"

bool owed_frees_any(struct live_map *map);
/* Of records that did not come: the free alone, at its time.  Nothing more is taken of these
 * streams then. */
enum step_status owed_frees_put(struct live_map *map, struct live_allocs_decoder *decoder);

#endif
