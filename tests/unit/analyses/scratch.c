/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/analyses/scratch.h"

#include <CUnit/Basic.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATHS 16u

static char directory[32];

int scratch_make(void)
{
    snprintf(directory, sizeof directory, "/tmp/analysis-XXXXXX");
    return mkdtemp(directory) == NULL;
}

int scratch_remove(void)
{
    DIR *entries = opendir(directory);
    for (const struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;)
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(entries), entry->d_name, 0);
    if (entries != NULL)
        closedir(entries);
    return rmdir(directory);
}

char *scratch_path(const char *name)
{
    static char paths[PATHS][128];
    static unsigned next;
    char *path = paths[next++ % PATHS];
    int length = snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    CU_ASSERT_FATAL(length > 0 && (size_t) length < sizeof paths[0]);
    return path;
}

char *scratch_file(const char *name, const void *bytes, size_t length)
{
    char *path = scratch_path(name);
    FILE *file = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_EQUAL_FATAL(fwrite(bytes, 1, length, file), length);
    CU_ASSERT_EQUAL_FATAL(fclose(file), 0);
    return path;
}

char *scratch_text(const char *name, const char *text)
{
    return scratch_file(name, text, strlen(text));
}

char *scratch_read(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    CU_ASSERT_FATAL(size >= 0);
    bytes = calloc(1, (size_t) size + 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    CU_ASSERT_EQUAL_FATAL(fread(bytes, 1, (size_t) size, file), (size_t) size);
    fclose(file);
    if (length != NULL)
        *length = (size_t) size;
    return bytes;
}
