/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of operations, which `replay` fills.  Their pages are mapped and touched before they are
 * used, so that no operation pays for that. */
#include "analyses/replay/driver/driver_state.h"

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static uint64_t slots_ready; /* entries of the table whose pages were touched */

static void touch_pages(const void *memory, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i += DRIVER_PAGE)
        (void) *((const volatile char *) memory + i);
}

static void ready_slots(uint32_t end)
{
    for (; slots_ready < end; slots_ready += DRIVER_PAGE / sizeof(void *))
        driver.slots[slots_ready] = NULL;
}

static struct replay_piece *map_piece(uint64_t number)
{
    uint64_t place = driver.control->is_streamed ? number % REPLAY_RING : number;
    void *piece = mmap(NULL, REPLAY_PIECE_BYTES, PROT_READ, MAP_SHARED, driver.file,
                       (off_t) ((place + 1) * REPLAY_PIECE_BYTES));
    if (piece == MAP_FAILED) {
        perror("steptrace replay: mmap");
        _exit(1);
    }
    touch_pages(piece, REPLAY_PIECE_BYTES);
    return piece;
}

/* Returns false if there are no more pieces. */
static bool wait_for_piece(uint64_t number)
{
    struct replay_control *control = driver.control;
    while (control->is_streamed && sem_wait(&control->filled) != 0)
        ;
    return number < atomic_load(&control->produced);
}

static void driver_release(struct replay_piece *piece)
{
    munmap(piece, REPLAY_PIECE_BYTES);
    if (driver.control->is_streamed)
        sem_post(&driver.control->emptied);
}

void driver_pieces_run_single(void)
{
    struct driver_run run = {0};
    for (uint64_t number = 0; wait_for_piece(number); number++) {
        struct replay_piece *piece = map_piece(number);
        ready_slots(piece->slot_end);
        for (uint32_t i = 0; i < piece->section_count; i++)
            driver_run_section(piece, &piece->sections[i], &run);
        driver_release(piece);
        driver_run_add(&run);
        run = (struct driver_run){0};
    }
    driver.control->thread_count = 1;
}

/* Waits until all threads are done with the piece, and unmaps it. */
static void driver_await(struct replay_piece **piece, _Atomic uint32_t *open_sections)
{
    while (*piece != NULL && atomic_load(open_sections) != 0)
        sched_yield();
    if (*piece != NULL)
        driver_release(*piece);
    *piece = NULL;
}

void driver_pieces_run_threaded(void)
{
    struct replay_piece *pieces[REPLAY_RING] = {NULL};
    static _Atomic uint32_t open_sections[REPLAY_RING];
    for (uint64_t number = 0; wait_for_piece(number); number++) {
        unsigned place = number % REPLAY_RING, oldest = (number + REPLAY_RING / 2) % REPLAY_RING;
        /* the next piece of a full ring is mapped when the oldest is done */
        struct replay_piece *piece = map_piece(number);
        pieces[place] = piece;
        ready_slots(piece->slot_end);
        atomic_store(&open_sections[place], piece->section_count);
        for (uint32_t i = 0; i < piece->section_count; i++)
            driver_workers_give(piece, &piece->sections[i], &open_sections[place]);
        driver_await(&pieces[oldest], &open_sections[oldest]);
    }
    driver_workers_join();
}
