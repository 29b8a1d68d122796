/* SPDX-License-Identifier: Apache-2.0 */
/* Limits the length of files by the kernel's limit for this process (RLIMIT_FSIZE), whoever writes
 * them. */
#include "converter/output/output_limit.h"

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "converter/cli/error_report.h"
#include "converter/numbers/quantity.h"

#define LEAST_BYTES (UINT64_C(4) << 30)
#define MOST_BYTES (UINT64_C(64) << 30)
#define TIMES UINT64_C(1000)

static volatile sig_atomic_t is_reached;
static uint64_t limit_bytes; /* 0: none */
static struct rlimit limit_before;
static struct sigaction action_before;

static void note_signal(int number)
{
    (void) number;
    is_reached = 1;
}

static uint64_t default_for(const char *input)
{
    struct stat about;
    if (stat(input, &about) != 0 || !S_ISREG(about.st_mode) ||
        (uint64_t) about.st_size > (MOST_BYTES - LEAST_BYTES) / TIMES)
        return MOST_BYTES;
    return LEAST_BYTES + TIMES * (uint64_t) about.st_size;
}

void output_limit_set(uint64_t bytes, const char *input)
{
    struct sigaction action = {.sa_handler = note_signal, .sa_flags = SA_RESTART};
    struct rlimit limit;
    uint64_t wanted = bytes == OUTPUT_LIMIT_DEFAULT ? default_for(input) : bytes;
    is_reached = 0;
    limit_bytes = 0;
    if (wanted == 0 || getrlimit(RLIMIT_FSIZE, &limit_before) != 0 ||
        limit_before.rlim_cur <= wanted)
        return; /* the user's own limit is lower and ends the write with its own error */
    limit = (struct rlimit){wanted, limit_before.rlim_max};
    sigaction(SIGXFSZ, &action, &action_before);
    if (setrlimit(RLIMIT_FSIZE, &limit) == 0)
        limit_bytes = wanted;
}

bool output_limit_end(void)
{
    if (limit_bytes == 0)
        return false;
    fflush(stdout); /* what has not been written yet counts, too */
    setrlimit(RLIMIT_FSIZE, &limit_before);
    sigaction(SIGXFSZ, &action_before, NULL);
    if (is_reached)
        report_line("the output would be longer than %s; --limit-output=SIZE allows more (0: any "
                    "length)",
                    quantity_of_bytes((double) limit_bytes).text);
    limit_bytes = 0;
    return is_reached != 0;
}
