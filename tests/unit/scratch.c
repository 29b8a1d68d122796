/* SPDX-License-Identifier: Apache-2.0 */
/* A temporary directory for a suite's files, and what a function prints. */
#include "tests/unit/scratch.h"

#include <CUnit/Basic.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_MOST ((size_t) 1 << 20)

static char folder[64];

int scratch_begin(void)
{
    snprintf(folder, sizeof folder, "/tmp/steptrace-unit-XXXXXX");
    return mkdtemp(folder) != NULL ? 0 : 1;
}

static int scratch_remove(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void) about;
    (void) kind;
    (void) place;
    return remove(path);
}

int scratch_end(void)
{
    return nftw(folder, scratch_remove, 8, FTW_DEPTH | FTW_PHYS);
}

char *scratch_path(const char *name)
{
    static char paths[16][512];
    static unsigned next;
    char *path = paths[next++ % 16];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

char *scratch_put(const char *name, const void *data, size_t length)
{
    char *path = scratch_path(name);
    FILE *file = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_EQUAL_FATAL(fwrite(data, 1, length, file), length);
    CU_ASSERT_EQUAL_FATAL(fclose(file), 0);
    return path;
}

char *scratch_put_text(const char *name, const char *text)
{
    return scratch_put(name, text, strlen(text));
}

/* Reads the file, from its beginning, into a buffer of READ_MOST bytes. */
static size_t scratch_take(int file, char *text)
{
    size_t used = 0;
    ssize_t got;
    while (used < READ_MOST - 1 &&
           (got = pread(file, text + used, READ_MOST - 1 - used, (off_t) used)) > 0)
        used += (size_t) got;
    text[used] = '\0';
    return used;
}

char *scratch_read(const char *path, size_t *length)
{
    static char text[READ_MOST];
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return NULL;
    size_t used = scratch_take(file, text);
    close(file);
    if (length != NULL)
        *length = used;
    return text;
}

/* Standard output and standard error: where they went, and the files that have them now. */
static int before[2], heard[2];

void scratch_listen(void)
{
    fflush(stdout);
    for (int i = 0; i < 2; i++) {
        before[i] = dup(i + 1);
        heard[i] = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        CU_ASSERT_FATAL(before[i] >= 0 && heard[i] >= 0 && dup2(heard[i], i + 1) == i + 1);
    }
}

struct scratch_heard scratch_hear(void)
{
    static char texts[2][READ_MOST];
    fflush(stdout);
    fflush(stderr);
    for (int i = 0; i < 2; i++) {
        scratch_take(heard[i], texts[i]);
        dup2(before[i], i + 1);
        close(before[i]);
        close(heard[i]);
    }
    return (struct scratch_heard){texts[0], texts[1]};
}
