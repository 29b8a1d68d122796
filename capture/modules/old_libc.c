/* SPDX-License-Identifier: Apache-2.0 */
/* Lets a module that was built today load with glibc 2.17. Newer versions of glibc gave functions
 * of libc a new symbol version, most of them only because they moved to another library (2.34).
 * Each is defined here, hidden in the module, and calls the version of glibc 2.17.
 * scripts/check-modules.sh reports which functions need another row. */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __GLIBC__

/* The old versions of these functions; on AArch64 glibc began with 2.17. */
#ifdef __x86_64__
#define V2_2_5 "GLIBC_2.2.5"
#define V2_3_3 "GLIBC_2.3.3"
#define V2_12 "GLIBC_2.12"
#else
#define V2_2_5 "GLIBC_2.17"
#define V2_3_3 "GLIBC_2.17"
#define V2_12 "GLIBC_2.17"
#endif

#define HIDDEN __attribute__((visibility("hidden")))
/* name_here, a function of this file, is `name` to the linker. */
#define OWN(type, name, parameters) extern HIDDEN type name##_here parameters __asm__(#name)
#define OLD_AS(version, type, name, old_name, parameters, arguments)                               \
    extern type name##_old parameters;                                                             \
    __asm__(".symver " #name "_old," #old_name "@" version);                                       \
    OWN(type, name, parameters);                                                                   \
    type name##_here parameters                                                                    \
    {                                                                                              \
        return name##_old arguments;                                                               \
    }
#define OLD(version, type, name, parameters, arguments)                                            \
    OLD_AS(version, type, name, name, parameters, arguments)

OLD(V2_2_5, void *, dlopen, (const char *path, int mode), (path, mode))
OLD(V2_2_5, void *, dlsym, (void *library, const char *name), (library, name))
OLD(V2_2_5, int, dladdr, (const void *address, Dl_info *info), (address, info))
OLD(V2_2_5, char *, dlerror, (void), ())

OLD(V2_2_5, int, sem_init, (sem_t * sem, int shared, unsigned value), (sem, shared, value))
OLD(V2_2_5, int, sem_destroy, (sem_t * sem), (sem))
OLD(V2_2_5, int, sem_post, (sem_t * sem), (sem))
OLD(V2_2_5, int, sem_wait, (sem_t * sem), (sem))
OLD(V2_2_5, int, sem_trywait, (sem_t * sem), (sem))
OLD(V2_2_5, int, sem_timedwait, (sem_t * sem, const struct timespec *until), (sem, until))

OLD(V2_2_5, int, pthread_join, (pthread_t thread, void **result), (thread, result))
OLD(V2_2_5, int, pthread_once, (pthread_once_t * once, void (*function)(void)), (once, function))
OLD(V2_2_5, int, pthread_key_create, (pthread_key_t * key, void (*function)(void *)),
    (key, function))
OLD(V2_2_5, int, pthread_setspecific, (pthread_key_t key, const void *value), (key, value))
OLD(V2_2_5, void *, pthread_getspecific, (pthread_key_t key), (key))
OLD(V2_2_5, int, pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex))
OLD(V2_2_5, int, pthread_attr_getstack,
    (const pthread_attr_t *attributes, void **address, size_t *size), (attributes, address, size))
OLD(V2_2_5, int, pthread_attr_setstacksize, (pthread_attr_t * attributes, size_t size),
    (attributes, size))
OLD(V2_2_5, int, pthread_getattr_np, (pthread_t thread, pthread_attr_t *attributes),
    (thread, attributes))
OLD(V2_2_5, int, pthread_sigmask, (int how, const sigset_t *new, sigset_t *old), (how, new, old))
OLD(V2_3_3, int, pthread_condattr_setclock, (pthread_condattr_t * attributes, clockid_t clock),
    (attributes, clock))
OLD(V2_12, int, pthread_setname_np, (pthread_t thread, const char *name), (thread, name))
#ifndef STEPTRACE_OWN_PTHREAD_CREATE /* the malloc recorder defines it */
OLD(V2_2_5, int, pthread_create,
    (pthread_t * thread, const pthread_attr_t *attributes, void *(*function)(void *), void *data),
    (thread, attributes, function, data))
#endif

/* off_t has 64 bits here anyway. */
OLD_AS(V2_2_5, int, fcntl64, fcntl, (int file, int command, void *argument),
       (file, command, argument))

/* Functions that glibc 2.17 lacks, or has under another name. */
OWN(int, fstat64, (int file, struct stat *status));
int fstat64_here(int file, struct stat *status)
{
    return (int) syscall(SYS_fstat, file, status);
}

OWN(int, lstat64, (const char *path, struct stat *status));
int lstat64_here(const char *path, struct stat *status)
{
    return (int) syscall(SYS_newfstatat, AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}

OWN(int, fstatat64, (int directory, const char *name, struct stat *status, int flags));
int fstatat64_here(int directory, const char *name, struct stat *status, int flags)
{
    return (int) syscall(SYS_newfstatat, directory, name, status, flags);
}

OWN(int, memfd_create, (const char *name, unsigned flags));
int memfd_create_here(const char *name, unsigned flags)
{
    return (int) syscall(SYS_memfd_create, name, flags);
}

#endif
