/* SPDX-License-Identifier: Apache-2.0 */
/* The traced program's view of the live file: mapped, but never open. */
#ifndef MALLOC_RECORDER_SHARED_MAP_H
#define MALLOC_RECORDER_SHARED_MAP_H

#include "malloc-recorder/recorder.h"

/* Reserves addresses: recording->base and range_bytes.  `attempt` is the number of ranges that the
 * drain could not use. */
bool shared_map_reserve(struct recording *recording, unsigned attempt);
/* Maps the file that the drain has created. */
bool shared_map_open(struct recording *recording, const char *live_path);
/* Unmaps the file, or releases the addresses. */
void shared_map_close(struct recording *recording);

/* Checks that the drain lives.  It may be silent for DRAIN_SILENCES calls, one second each. */
#define DRAIN_SILENCES 5u
bool shared_map_is_drained(struct live_map *map);

#endif
