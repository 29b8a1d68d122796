/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of memory over time: live bytes as requested by the program, and resident bytes. */
#ifndef CONVERTER_REPLAY_DRIVER_DRIVER_SAMPLES_H
#define CONVERTER_REPLAY_DRIVER_DRIVER_SAMPLES_H

#include <stdint.h>

/* Sets the baseline: resident memory up to now belongs to the driver. */
void driver_samples_begin(void);
/* Takes a sample; thread-safe.  If there are many, the sampling rate falls, so at most
 * REPLAY_SAMPLES are kept. */
void driver_samples_take(uint64_t live_bytes, uint64_t operations);
/* Takes the last sample, which is always kept. */
void driver_samples_end(uint64_t operations);

#endif
