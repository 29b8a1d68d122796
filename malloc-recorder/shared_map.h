/* SPDX-License-Identifier: Apache-2.0 */
/* The live file as the program has it: mapped, and never open. */
#ifndef MALLOC_RECORDER_SHARED_MAP_H
#define MALLOC_RECORDER_SHARED_MAP_H

#include "malloc-recorder/recorder.h"

/* Sets addresses aside: recording->base and range_bytes.  `attempt` counts those that the drain
 * could not use. */
bool shared_map_reserve(struct recording *recording, unsigned attempt);
/* Maps the file that the drain has made. */
bool shared_map_open(struct recording *recording, const char *live_path);
/* Unmaps, or gives the addresses back. */
void shared_map_close(struct recording *recording);

/* Whether the drain lives; it may be silent for DRAIN_SILENCES calls, of a second each. */
#define DRAIN_SILENCES 5u
bool shared_map_is_drained(struct live_map *map);

#endif
