/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder's state, shared by all its parts. */
#include "malloc-recorder/recorder.h"

#include <errno.h>

struct recorder recorder = {.control_lock = PTHREAD_MUTEX_INITIALIZER};
union recorder_hot recorder_hot;

void own_mode_enter(struct own_mode *own)
{
    sigset_t all;
    own->saved_errno = errno;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &own->signals);
    own->mode = recorder_local.mode;
    recorder_local.mode = MODE_OWN;
}

void own_mode_leave(const struct own_mode *own)
{
    recorder_local.mode = own->mode;
    pthread_sigmask(SIG_SETMASK, &own->signals, NULL);
    errno = own->saved_errno;
}

uint64_t recorder_stamp(void)
{
    static _Atomic uint64_t last;
    uint64_t now = clock_raw() - recorder.start.raw;
    if (__builtin_expect(clock_uses_counter, 1))
        return now;
    uint64_t before = atomic_load(&last), stamp;
    do
        stamp = now > before ? now : before + 1;
    while (!atomic_compare_exchange_weak(&last, &before, stamp));
    return stamp;
}

/* The memory stays, because another thread may be in a probe. */
void recorder_give_up(struct recording *recording)
{
    struct recording *current = recording;
    if (!atomic_compare_exchange_strong(&recorder_hot.recording, &current, NULL))
        return;
    atomic_store(&recorder_hot.state, STATE_OFF);
    if (atomic_load(&recording->control->is_closed))
        return; /* reported at the end */
}
