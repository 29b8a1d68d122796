/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that a recorder could hurt: argument 1 says what is done, argument 2 how many blocks are
 * allocated and freed then.  Exit code 0: all was as it is without a recorder. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILES 200

static long rounds;

static void churn(size_t size)
{
    for (long i = 0; i < rounds; i++)
        free(malloc(size));
}

/* Closes what it did not open, has files of its own then, and finds in them what it wrote. */
static int files(void)
{
    char name[64], text[64];
    int file[FILES];
    closefrom(3);
    mkdir("own", 0755);
    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "own/%d", i);
        file[i] = open(name, O_CREAT | O_RDWR | O_TRUNC, 0644);
        if (file[i] != 3 + i || write(file[i], name, strlen(name)) != (ssize_t) strlen(name))
            return 1;
    }
    close(2);
    if (open("own/as-stderr", O_CREAT | O_RDWR | O_TRUNC, 0644) != 2)
        return 2;
    churn(100);
    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "own/%d", i);
        if (pread(file[i], text, sizeof text, 0) != (ssize_t) strlen(name))
            return 3;
    }
    return 0;
}

static int entries(const char *path)
{
    int count = 0;
    struct dirent *entry;
    DIR *directory = opendir(path);
    while ((entry = readdir(directory)) != NULL)
        count += entry->d_name[0] != '.';
    closedir(directory);
    return count;
}

/* It has one thread, no file that it does not know, no child, and its signals. */
static int alone(void)
{
    sigset_t blocked;
    churn(100);
    if (entries("/proc/self/task") != 1 || entries("/proc/self/fd") != 4)
        return 1;
    if (waitpid(-1, NULL, WNOHANG) != -1 || waitpid(-1, NULL, WNOHANG | (int) __WALL) != -1)
        return 2;
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    for (int number = 1; number < 32; number++)
        if (sigismember(&blocked, number) == 1)
            return 3;
    /* only a process of one thread may; where nobody may, that is no fault of ours */
    return unshare(CLONE_NEWUSER) != 0 && errno == EINVAL ? 4 : 0;
}

/* A child that no handler of fork() was told of. */
static int fork_rawly(const char *how)
{
    for (int i = 0; i < 100; i++)
        free(malloc(100));
    pid_t child =
        strcmp(how, "raw") == 0 ? (pid_t) syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : _Fork();
    if (child == 0) {
        churn(2000);
        _exit(0);
    }
    churn(3000);
    int status = 0;
    waitpid(child, &status, 0);
    return status;
}

/* Blocks of the parent's, plain, zeroed and aligned, are freed and resized by its child (`how` is
 * the call that forks) and, in fork's, by that one's child. */
static int inherit(const char *how)
{
    void *block[90];
    churn(16);
    for (int i = 0; i < 90; i++)
        block[i] = i % 3 == 0   ? calloc(1, 4000)
                   : i % 3 == 1 ? malloc(4000)
                                : aligned_alloc(64, 4032);
    free(block[0]);
    pid_t child = strcmp(how, "inherit") == 0 ? fork() : _Fork();
    if (child == 0) {
        for (int i = 1; i < 60; i++)
            free(block[i]);
        block[60] = realloc(block[60], 90000);
        child = strcmp(how, "inherit") == 0 ? fork() : 0;
        if (child == 0)
            free(block[60]);
        waitpid(child, NULL, 0);
        _exit(0);
    }
    churn(100);
    for (int i = 1; i < 90; i++)
        free(block[i]);
    return waitpid(child, NULL, 0) != child;
}

/* For slot_malloc.c: a block is resized, another thread has its address, the process is killed. */
static void *take_slot(void *state)
{
    while (atomic_load((_Atomic int *) state) != 1)
        usleep(100);
    if (malloc(7777) != NULL)
        atomic_store((_Atomic int *) state, 2);
    pause();
    return NULL;
}

static int resize_slot(void)
{
    char answer;
    pthread_t thread;
    if (write(1, "ready\n", 6) != 6 || read(0, &answer, 1) != 1)
        return 1;
    void *state = dlsym(RTLD_DEFAULT, "slot_state");
    pthread_create(&thread, NULL, take_slot, state);
    return realloc(malloc(7777), 100) != NULL;
}

/* Threads that are each at another place of their buffers, and then fill them. */
#define FILLERS 5
static pthread_barrier_t filling;

static void *fill(void *number)
{
    for (intptr_t i = 0; i < (intptr_t) number; i++)
        free(calloc(1, 10)), malloc(20);
    pthread_barrier_wait(&filling);
    pthread_barrier_wait(&filling);
    churn(100);
    return NULL;
}

/* Says when all threads run, and fills the buffers when it gets an answer. */
static int fill_buffers(void)
{
    char answer;
    pthread_t threads[FILLERS];
    pthread_barrier_init(&filling, NULL, FILLERS + 1);
    for (intptr_t i = 0; i < FILLERS; i++)
        pthread_create(&threads[i], NULL, fill, (void *) i);
    pthread_barrier_wait(&filling);
    if (write(1, "ready\n", 6) != 6 || read(0, &answer, 1) != 1)
        return 1;
    pthread_barrier_wait(&filling);
    for (int i = 0; i < FILLERS; i++)
        pthread_join(threads[i], NULL);
    if (write(1, "full\n", 5) != 5 || read(0, &answer, 1) != 1)
        return 1;
    return 0;
}

int main(int count, char **words)
{
    rounds = atol(words[2]);
    if (strcmp(words[1], "files") == 0)
        return files();
    if (strcmp(words[1], "alone") == 0)
        return alone();
    if (strcmp(words[1], "churn") == 0) {
        churn(100);
        return 0;
    }
    if (strcmp(words[1], "exit-thread") == 0) {
        churn(100);
        pthread_exit(NULL);
    }
    if (strcmp(words[1], "resize-slot") == 0)
        return resize_slot();
    if (strcmp(words[1], "fill") == 0)
        return fill_buffers();
    if (strncmp(words[1], "inherit", strlen("inherit")) == 0)
        return inherit(words[1]);
    return fork_rawly(words[1]);
}
