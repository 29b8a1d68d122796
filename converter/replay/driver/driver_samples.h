/* SPDX-License-Identifier: Apache-2.0 */
/* Memory over time: what lives, as the program asked for it, and what is resident. */
#ifndef CONVERTER_REPLAY_DRIVER_DRIVER_SAMPLES_H
#define CONVERTER_REPLAY_DRIVER_DRIVER_SAMPLES_H

#include <stdint.h>

/* From here on: what is resident by now is the driver's own. */
void driver_samples_begin(void);
/* Any thread's.  There may be any number of them: ever fewer are kept, REPLAY_SAMPLES at most. */
void driver_samples_take(uint64_t live_bytes, uint64_t operations);
/* The last one, which is kept in any case. */
void driver_samples_end(uint64_t operations);

#endif
