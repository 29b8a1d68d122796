/* SPDX-License-Identifier: Apache-2.0 */
/* What the compilers have in common. */
#include "compiler.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

/* The line with a caret below the fault's place; a tab in front of it stays one. */
static void show_line(const struct step_fault *fault)
{
    const size_t most = 200;
    size_t from = 0, caret = fault->text_column - 1;
    if (caret > fault->text_length)
        caret = fault->text_length;
    if (caret > most / 2 && fault->text_length > most)
        from = caret - most / 2;
    size_t length = fault->text_length - from < most ? fault->text_length - from : most;
    fputs("  ", stderr);
    for (size_t i = from; i < from + length; i++)
        fputc((unsigned char) fault->text[i] < ' ' && fault->text[i] != '\t' ? ' ' : fault->text[i],
              stderr);
    fputs("\n  ", stderr);
    for (size_t i = from; i < caret; i++)
        if (((unsigned char) fault->text[i] & 0xc0) != 0x80)
            fputc(fault->text[i] == '\t' ? '\t' : ' ', stderr);
    fputs("^\n", stderr);
}

void compiler_report_fault(void *user, const struct step_fault *fault)
{
    (void) user;
    fprintf(stderr, "%s:%u:%u: %s\n", fault->name, fault->line, fault->column, fault->message);
    if (fault->text_length > 0)
        show_line(fault);
}

bool compiler_write_file(const char *program, const char *base, const char *ending,
                         void (*write)(const void *user, FILE *out), const void *user)
{
    char path[4096], temporary[4200];
    snprintf(path, sizeof path, "%s.%s", base, ending);
    snprintf(temporary, sizeof temporary, "%s.%ld.tmp", path, (long) getpid());
    FILE *file = fopen(temporary, "w");
    if (file != NULL) {
        write(user, file);
        bool good = !ferror(file);
        good = fclose(file) == 0 && good;
        if (good && rename(temporary, path) == 0)
            return true;
    }
    fprintf(stderr, "%s: %s: %s\n", program, path, strerror(errno));
    unlink(temporary);
    return false;
}

const char *compiler_base(const char *program, const char *path, char *name, size_t size)
{
    const char *slash = strrchr(path, '/');
    const char *file = slash != NULL ? slash + 1 : path;
    size_t length = strlen(file);
    if (length == 0 || length > 100 || strpbrk(file, "\"\\\n") != NULL) {
        fprintf(stderr, "%s: '%s' does not do as the name of C files\n", program, file);
        return NULL;
    }
    bool digit = isdigit((unsigned char) file[0]) != 0;
    snprintf(name, size, "%s%s", digit ? "n" : "", file);
    for (char *at = name; *at != '\0'; at++)
        if (!isalnum((unsigned char) *at))
            *at = '_';
    return file;
}
