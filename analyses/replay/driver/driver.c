/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The replay driver: executes prepared operations (replay_ops.h) with the preloaded allocator.  It
 * never allocates itself: its own memory is mapped.
 */
#include "analyses/replay/driver/driver_state.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

struct driver_state driver;

void *driver_map_memory(uint64_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        perror("steptrace replay: mmap");
        _exit(1);
    }
    return memory;
}

static void limit_memory(uint64_t bytes)
{
    struct rlimit limit;
    if (bytes == 0 || getrlimit(RLIMIT_DATA, &limit) != 0)
        return;
    if (limit.rlim_cur > bytes)
        limit.rlim_cur = bytes;
    setrlimit(RLIMIT_DATA, &limit);
}

static void driver_prepare(void)
{
    allocator_choose(driver.control, &driver.allocator);
    driver.slots = driver_map_memory(REPLAY_SLOTS_MOST * sizeof(void *));
    driver.heaps = driver_map_memory(REPLAY_HEAPS_MOST * sizeof(void *));
    driver.progress = driver_map_memory(REPLAY_THREADS_MOST * sizeof *driver.progress);
    driver_workers_begin();
    limit_memory(driver.control->memory_bytes);
    driver_samples_begin();
}

int main(int count, char **words)
{
    if (count != 2)
        return 2;
    driver.file = atoi(words[1]);
    driver.control =
        mmap(NULL, REPLAY_PIECE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, driver.file, 0);
    if (driver.control == MAP_FAILED)
        return 1;
    driver_prepare();
    driver.start_ns = driver_now_ns();
    if (driver.control->is_threaded)
        driver_pieces_run_threaded();
    else
        driver_pieces_run_single();
    driver.control->wall_ns = driver_now_ns() - driver.start_ns;
    driver_samples_end();
    driver.control->operations = driver.operations;
    driver.control->failures = driver.failures;
    driver.control->busy_ns = driver.busy_ns;
    driver.control->blocked_ns = driver.blocked_ns;
    driver.control->is_done = true;
    _exit(0);
}
