/* SPDX-License-Identifier: Apache-2.0 */
/* watched N: three threads put N objects each into one ring, and free what was there: addresses are
 * used again by others.  Then it says so, and waits for the end of its input; then N more. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static void *ring[512];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int objects;

static void *churn(void *number)
{
    unsigned seed = 7919u * (unsigned) (size_t) number + 1;
    for (int i = 0; i < objects; i++) {
        seed = seed * 1103515245u + 12345u;
        void *made =
            seed % 5 == 0 ? calloc(1, 16 + seed / 65536 % 500) : malloc(16 + seed / 65536 % 500);
        if (seed / 8192 % 7 == 0)
            made = realloc(made, 1 + seed / 65536 % 2000);
        pthread_mutex_lock(&lock);
        void *before = ring[seed >> 23];
        ring[seed >> 23] = made;
        pthread_mutex_unlock(&lock);
        free(before);
    }
    return NULL;
}

static void go(void)
{
    pthread_t threads[3];
    for (size_t i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, churn, (void *) (i + 1));
    for (size_t i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

int main(int count, char **arguments)
{
    char end;
    objects = atoi(arguments[count - 1]);
    for (int round = 0; round < 2; round++) {
        go();
        if (write(1, "r", 1) != 1 || read(0, &end, 1) < 0)
            return 1;
    }
    return 0;
}
