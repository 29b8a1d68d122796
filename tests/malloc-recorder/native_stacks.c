/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations whose call stacks are known, in functions with and without frame pointers, through
 * libc's own, in a thread, from a signal handler on a stack of its own; each ROUNDS times. */
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 20
#define PLAIN __attribute__((noinline, noclone))
#define KEPT PLAIN __attribute__((optimize("no-omit-frame-pointer")))

static volatile int keep;

PLAIN void *leaf(size_t size)
{
    void *block = malloc(size);
    keep++;
    return block;
}

PLAIN void *without_pointer(size_t size)
{
    void *block = leaf(size);
    keep++;
    return block;
}

KEPT void *with_pointer(size_t size)
{
    void *block = without_pointer(size);
    keep++;
    return block;
}

PLAIN void *with_alloca(size_t size)
{
    volatile char *room = alloca((size_t) keep % 100 + 16);
    room[0] = 1;
    void *block = with_pointer(size);
    keep += room[0];
    return block;
}

PLAIN void *deep(int depth)
{
    void *block = depth == 0 ? with_alloca(1001) : deep(depth - 1);
    keep++;
    return block;
}

PLAIN int compare(const void *left, const void *right)
{
    free(with_alloca(1002));
    return *(const int *) left - *(const int *) right;
}

PLAIN void *run_thread(void *argument)
{
    for (int i = 0; i < ROUNDS; i++)
        free(with_alloca(1003));
    return argument;
}

PLAIN void handle(int number)
{
    free(with_alloca(1004));
}

static void *volatile kept;

/* Each value of `bits` is another stack. */
PLAIN void path(unsigned bits, int depth)
{
    kept = malloc(16);
    free(kept);
    if (depth > 0 && (bits & 1) != 0) {
        path(bits >> 1, depth - 1);
        keep++;
    } else if (depth > 0) {
        path(bits >> 1, depth - 1);
        keep--;
    }
}

/* So many records that the drain is busy while the program, at its end, fills a chunk of frames. */
static void end_with_paths(unsigned count)
{
    for (int i = 0; i < 2000000; i++) {
        kept = malloc(24);
        free(kept);
    }
    for (unsigned i = 0; i < count; i++)
        path(i, 14);
}

int main(int count, char **words)
{
    if (count > 1) {
        end_with_paths((unsigned) atoi(words[1]));
        return 0;
    }
    int pair[2] = {2, 1};
    pthread_t thread;
    stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        free(deep(30));
        qsort(pair, 2, sizeof pair[0], compare);
        raise(SIGUSR1);
    }
    pthread_create(&thread, NULL, run_thread, NULL);
    return pthread_join(thread, NULL);
}
