/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps who may read the traces that this command reads. */
#include "converter/files/output_rights.h"

#include <sys/stat.h>

/* For each of group and others: may read, and all that they may. */
static const struct {
    mode_t reads, all;
} classes[] = {{S_IRGRP, S_IRWXG}, {S_IROTH, S_IRWXO}};

static mode_t common = 0777;

void output_rights_note(const char *path)
{
    struct stat about;
    if (stat(path, &about) == 0 && S_ISREG(about.st_mode))
        common &= about.st_mode;
}

mode_t output_rights_of_new(mode_t most)
{
    mode_t mask = umask(0);
    umask(mask);
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++)
        if ((common & classes[i].reads) == 0)
            mask |= classes[i].all;
    return most & ~mask;
}
