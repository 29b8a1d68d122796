/* SPDX-License-Identifier: Apache-2.0 */
/* Allocates `argument 1` blocks of 1, 2, 3, ... bytes, frees every second, and ends as argument 2
 * says: return, _exit, quick_exit, abort, kill, or exec of what follows. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int count, char **words)
{
    long blocks = atol(words[1]);
    const char *end = words[2];
    void **table = malloc((size_t) blocks * sizeof *table);
    for (long i = 0; i < blocks; i++)
        table[i] = malloc((size_t) i + 1);
    for (long i = 0; i < blocks; i += 2)
        free(table[i]);
    if (strcmp(end, "_exit") == 0)
        _exit(3);
    if (strcmp(end, "quick_exit") == 0)
        quick_exit(3);
    if (strcmp(end, "abort") == 0)
        abort();
    if (strcmp(end, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(end, "closefrom") == 0)
        closefrom(3);
    if (strcmp(end, "exec") == 0)
        execvp(words[3], words + 3);
    return 3;
}
