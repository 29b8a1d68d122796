/* SPDX-License-Identifier: Apache-2.0 */
/* Increments a number until the name is free. */
#include "converter/attach/attach.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "converter/base/joined_files.h"

#define NAMES_MOST 10000u

/* A dangling link occupies the name as well, and so do files that it stands for. */
static bool is_free(const char *name)
{
    char live[PATH_MAX];
    struct stat about;
    snprintf(live, sizeof live, "%s.live", name);
    return lstat(name, &about) != 0 && errno == ENOENT && lstat(live, &about) != 0 &&
           errno == ENOENT && !rotated_files_exist(name);
}

bool trace_name_free(const char *wanted, char *out, size_t size)
{
    const char *slash = strrchr(wanted, '/'), *name = slash != NULL ? slash + 1 : wanted;
    const char *dot = strrchr(name, '.');
    const char *ending = dot != NULL && dot != name ? dot : wanted + strlen(wanted);
    for (unsigned number = 1; number <= NAMES_MOST; number++) {
        int length = number == 1 ? snprintf(out, size, "%s", wanted)
                                 : snprintf(out, size, "%.*s.%u%s", (int) (ending - wanted), wanted,
                                            number, ending);
        if (length < 0 || (size_t) length + sizeof ".live" > size || length >= PATH_MAX - 8)
            return false;
        if (is_free(out))
            return true;
    }
    return false;
}
