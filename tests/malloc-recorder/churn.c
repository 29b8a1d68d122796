/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that hand blocks to each other through slots, so that what one frees the next gets; with
 * an argument the process forks meanwhile.  Prints how many allocations and frees it made itself.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 8
#define ROUNDS 60000
#define SLOTS 256

static _Atomic(void *) slots[SLOTS];
static _Atomic unsigned long allocations, frees, moves;

static void *new_block(unsigned random)
{
    size_t size = (random >> 22) + 1;
    switch (random >> 8 & 3) {
    case 0:
        return malloc(size);
    case 1:
        return calloc(1, size);
    case 2:
        return aligned_alloc(64, (size + 63) / 64 * 64);
    default:
        return NULL;
    }
}

static void give_up(void *block, unsigned random)
{
    if (block == NULL)
        return;
    frees++;
    if ((random & 0x40000) != 0) {
        moves++;
        block = realloc(block, (random >> 20) + 1);
    }
    free(block);
}

static void *work(void *argument)
{
    unsigned random = (unsigned) (uintptr_t) argument * 7919 + 1;
    for (int i = 0; i < ROUNDS; i++) {
        random = random * 1103515245 + 12345;
        void *block = new_block(random);
        allocations += block != NULL;
        give_up(atomic_exchange(&slots[random >> 16 & (SLOTS - 1)], block), random);
    }
    return NULL;
}

static void fork_once(int last)
{
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 1000; i++)
            free(malloc((size_t) i));
        if (last)
            execlp("true", "true", NULL);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

int main(int count, char **words)
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *) i);
    for (int i = 0; count > 1 && i < 5; i++)
        fork_once(i == 4);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < SLOTS; i++)
        give_up(slots[i], 0);
    printf("%lu %lu %lu\n", allocations, frees, moves);
    return 0;
}
