/* SPDX-License-Identifier: Apache-2.0 */
/* What programs that measure share: the clock, and an end with a message where something fails. */
#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "steptrace/status.h"

/* Seconds of processor time: the machine may be busy. */
static inline double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double) time.tv_sec + (double) time.tv_nsec * 1e-9;
}

static inline void *must(void *pointer)
{
    if (pointer == NULL) {
        fprintf(stderr, "%s: out of memory\n", program_invocation_short_name);
        exit(1);
    }
    return pointer;
}

static inline void check(enum step_status status, const struct step_error *error)
{
    char text[1024];
    if (status == STEP_STATUS_OK)
        return;
    step_error_print(error, text, sizeof text);
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, text);
    exit(1);
}

#endif
