/* SPDX-License-Identifier: Apache-2.0 */
/* A library that is opened with RTLD_DEEPBIND: its malloc is libc's, whatever was preloaded. */
#include <stdlib.h>

void work(void);

void work(void)
{
    for (int i = 0; i < 100; i++)
        free(malloc(4321));
}
