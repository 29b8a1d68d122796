/* SPDX-License-Identifier: Apache-2.0 */
/* Handles signals by system calls alone: they go by descriptors, and compare what they remove. */
#include "converter/output/output_signals.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "format/core/output_place.h"

#define NAME_BYTES 256 /* NAME_MAX and its end */

struct doomed {
    volatile sig_atomic_t is_set;
    int parent;
    char name[NAME_BYTES];
    struct stat made;
};

static struct doomed doomed_file, doomed_directory;
static int doomed_folder; /* the directory itself */

static void doom(struct doomed *doomed, int parent, const char *name, const struct stat *made)
{
    size_t length = strlen(name);
    doomed->is_set = 0;
    if (length >= NAME_BYTES)
        return;
    doomed->parent = parent;
    memcpy(doomed->name, name, length + 1);
    doomed->made = *made;
    doomed->is_set = 1;
}

void output_signals_doom_file(int directory, const char *name, const struct stat *made)
{
    doom(&doomed_file, directory, name, made);
}

void output_signals_spare_file(void)
{
    doomed_file.is_set = 0;
}

void output_signals_doom_directory(int parent, const char *name, int made)
{
    struct stat about;
    if (fstat(made, &about) != 0)
        return;
    doomed_folder = made;
    doom(&doomed_directory, parent, name, &about);
}

void output_signals_spare_directory(void)
{
    doomed_directory.is_set = 0;
}

/* Without readdir(), which a signal handler may not call; a system call by itself is safe.
 * NOLINTBEGIN(bugprone-signal-handler) */
void output_signals_empty(int directory)
{
    struct dirent64_head {
        uint64_t number;
        int64_t next;
        uint16_t length;
        uint8_t type;
        char name[];
    };
    char entries[4096] __attribute__((aligned(8)));
    long got;
    lseek(directory, 0, SEEK_SET);
    while ((got = syscall(SYS_getdents64, directory, entries, sizeof entries)) > 0)
        for (long at = 0; at < got;) {
            const struct dirent64_head *entry = (const void *) (entries + at);
            unlinkat(directory, entry->name, 0);
            at += entry->length;
        }
}

static void remove_and_die(int signal_number)
{
    if (doomed_file.is_set)
        output_place_remove(doomed_file.parent, doomed_file.name, &doomed_file.made);
    if (doomed_directory.is_set) {
        output_signals_empty(doomed_folder);
        output_place_remove(doomed_directory.parent, doomed_directory.name, &doomed_directory.made);
    }
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}
/* NOLINTEND(bugprone-signal-handler) */

/* Not SIG_IGN, which programs that are started would inherit. */
static void output_signals_go_on(int signal_number)
{
    (void) signal_number;
}

static void catch (int signal_number, void (*handler)(int))
{
    if (signal(signal_number, handler) == SIG_IGN)
        signal(signal_number, SIG_IGN);
}

void output_signals_catch(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        catch (numbers[i], remove_and_die);
    catch (SIGXFSZ, output_signals_go_on);
}

sigset_t output_signals_hold(void)
{
    sigset_t held, before;
    sigfillset(&held);
    sigprocmask(SIG_SETMASK, &held, &before);
    return before;
}

void output_signals_let(sigset_t before)
{
    int saved = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = saved;
}
