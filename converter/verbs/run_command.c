/* SPDX-License-Identifier: Apache-2.0 */
/* Finds programs in PATH, reads their ELF headers, and waits for commands. */
#include "converter/verbs/run_command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "converter/verbs/verb.h"

#define COMMAND_NOT_STARTED 127

/* Looks for the loader that a program of 64 bits asks for. */
static void find_loader(int file, const Elf64_Ehdr *header, struct elf_kind *kind)
{
    for (unsigned i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr part;
        char name[PATH_MAX];
        off_t place = (off_t) (header->e_phoff + i * sizeof part);
        if (pread(file, &part, sizeof part, place) != sizeof part)
            return;
        if (part.p_type != PT_INTERP)
            continue;
        ssize_t length = pread(file, name, sizeof name - 1, (off_t) part.p_offset);
        name[length > 0 ? length : 0] = '\0';
        kind->is_musl = strstr(name, "/ld-musl-") != NULL;
        return;
    }
    kind->is_static = true;
}

bool elf_kind_read(const char *path, struct elf_kind *kind)
{
    Elf64_Ehdr header;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    bool is_elf = file >= 0 && pread(file, &header, sizeof header, 0) == sizeof header &&
                  memcmp(header.e_ident, ELFMAG, SELFMAG) == 0;
    if (is_elf) {
        *kind = (struct elf_kind){header.e_ident[EI_CLASS], header.e_ident[EI_DATA],
                                  header.e_machine, false, false};
        if (kind->class == ELFCLASS64)
            find_loader(file, &header, kind);
    }
    if (file >= 0)
        close(file);
    return is_elf;
}

bool command_find(const char *command, char *path, size_t size)
{
    const char *directories = getenv("PATH");
    if (strchr(command, '/') != NULL)
        return snprintf(path, size, "%s", command) < (int) size;
    for (const char *at = directories; at != NULL && *at != '\0';) {
        int length = (int) strcspn(at, ":");
        int written = snprintf(path, size, "%.*s/%s", length, at, command);
        if (written < (int) size && access(path, X_OK) == 0)
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

enum step_status command_fail(const char *verb, const char *what, const char *why)
{
    fprintf(stderr, "steptrace %s: %s: %s\n", verb, what, why);
    return STEP_STATUS_IO;
}

static volatile sig_atomic_t child_process;

static void pass_on(int number)
{
    if (child_process > 0)
        kill((pid_t) child_process, number);
}

/* As a container's first process, this is also the parent of all orphans, including drains. */
static void wait_for(pid_t child)
{
    int status = 0;
    pid_t ended;
    do
        ended = waitpid(-1, &status, 0);
    while (ended != child && (ended >= 0 || errno == EINTR));
    child_process = 0;
    verb_exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

enum step_status command_run(const char *verb, char **words, bool passes_on,
                             bool (*prepare)(const void *user), const void *user, pid_t *process)
{
    static const int signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
    int report[2], code = 0;
    if (pipe2(report, O_CLOEXEC) != 0)
        return command_fail(verb, words[0], strerror(errno));
    fflush(NULL);
    signal(SIGINT, SIG_IGN);
    signal(SIGQUIT, SIG_IGN);
    pid_t child = *process = fork();
    if (child == 0) {
        for (size_t i = 0; i < (passes_on ? 4 : 2); i++)
            signal(signals[i], SIG_DFL);
        if (prepare == NULL || prepare(user))
            execvp(words[0], words);
        code = errno;
        _exit(write(report[1], &code, sizeof code) > 0 ? COMMAND_NOT_STARTED - 1
                                                       : COMMAND_NOT_STARTED);
    }
    child_process = (sig_atomic_t) child;
    for (size_t i = 2; passes_on && i < 4; i++)
        signal(signals[i], pass_on);
    code = child < 0 ? errno : 0;
    close(report[1]);
    if (child > 0 && read(report[0], &code, sizeof code) != (ssize_t) sizeof code)
        code = 0; /* it was started */
    close(report[0]);
    if (child > 0)
        wait_for(child);
    return code == 0 ? STEP_STATUS_OK : command_fail(verb, words[0], strerror(code));
}
