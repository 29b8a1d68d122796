/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of the memory that the allocator has, over the replay. */
#include "analyses/replay/driver/driver_state.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock;
    int status_file;
    uint64_t base_resident;
    uint64_t stride, countdown; /* keep one sample in `stride`; skip `countdown` before the next */
} sampling = {.lock = PTHREAD_MUTEX_INITIALIZER, .stride = 1};

/* Returns private memory in bytes: resident without shared pages. */
static uint64_t resident_bytes(void)
{
    char text[128];
    ssize_t length = pread(sampling.status_file, text, sizeof text - 1, 0);
    if (length <= 0)
        return 0;
    text[length] = '\0';
    char *at = text;
    strtoul(at, &at, 10);
    uint64_t resident = strtoul(at, &at, 10), shared = strtoul(at, &at, 10);
    return (resident - shared) * DRIVER_PAGE;
}

static void keep_sample(const struct replay_sample *sample)
{
    struct replay_control *control = driver.control;
    if (control->sample_count == REPLAY_SAMPLES) {
        for (uint32_t i = 0; i < REPLAY_SAMPLES / 2; i++)
            control->samples[i] = control->samples[2 * i];
        control->sample_count = REPLAY_SAMPLES / 2;
        sampling.stride *= 2;
    }
    control->samples[control->sample_count++] = *sample;
}

void driver_samples_take(uint64_t live_bytes, uint64_t operations)
{
    struct replay_control *control = driver.control;
    pthread_mutex_lock(&sampling.lock);
    control->last_live_bytes = live_bytes;
    if (sampling.countdown-- == 0) {
        uint64_t resident = resident_bytes();
        resident = resident > sampling.base_resident ? resident - sampling.base_resident : 0;
        if (resident > control->peak_resident_bytes)
            control->peak_resident_bytes = resident;
        control->final_resident_bytes = resident;
        keep_sample(&(struct replay_sample){operations, live_bytes, resident});
        sampling.countdown = sampling.stride - 1;
    }
    pthread_mutex_unlock(&sampling.lock);
}

void driver_samples_begin(void)
{
    sampling.status_file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    free(malloc(1));
    sampling.base_resident = resident_bytes();
}

void driver_samples_end(void)
{
    sampling.countdown = 0; /* the last sample is always kept */
    driver_samples_take(driver.control->last_live_bytes, driver.operations);
}
