/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target without libFuzzer: over the empty input and over every file that is named, or
 * that lies in a directory that is named. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(size > 0 ? size : 1); /* exact, so that ASan sees its end */
    int failed = 1;
    if (file != NULL && data != NULL && fread(data, 1, size, file) == size) {
        LLVMFuzzerTestOneInput(data, size);
        failed = 0;
    } else {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
    }
    free(data);
    if (file != NULL)
        fclose(file);
    return failed;
}

static int replay_path(const char *path, unsigned *count);

static int replay_directory(const char *path, unsigned *count)
{
    DIR *directory = opendir(path);
    if (directory == NULL)
        return 1;
    int failed = 0;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        char name[PATH_MAX];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        failed |= replay_path(name, count);
    }
    closedir(directory);
    return failed;
}

static int replay_path(const char *path, unsigned *count)
{
    struct stat about;
    if (stat(path, &about) != 0) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return 1;
    }
    if (S_ISDIR(about.st_mode))
        return replay_directory(path, count);
    (*count)++;
    return replay_file(path, (size_t) about.st_size);
}

int main(int argc, char **argv)
{
    static const uint8_t nothing[1];
    unsigned count = 1;
    int failed = 0;
    LLVMFuzzerTestOneInput(nothing, 0);
    for (int i = 1; i < argc; i++)
        failed |= replay_path(argv[i], &count);
    printf("%u inputs\n", count);
    return failed;
}
