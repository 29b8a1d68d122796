/* SPDX-License-Identifier: Apache-2.0 */
/* Calls libzstd's functions through pointers: those that format/core/compress_zstd.c uses. */
#include "capture/modules/late_zstd.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "capture/log.h"

#if STEPTRACE_ZSTD
#include <zstd.h>

#define LIBRARY "libzstd.so.1"

/* name, result, parameters */
#define FUNCTIONS(ROW)                                                                             \
    ROW(createCCtx, ZSTD_CCtx *, (void) )                                                          \
    ROW(freeCCtx, size_t, (ZSTD_CCtx *) )                                                          \
    ROW(compressCCtx, size_t, (ZSTD_CCtx *, void *, size_t, const void *, size_t, int) )           \
    ROW(compress2, size_t, (ZSTD_CCtx *, void *, size_t, const void *, size_t))                    \
    ROW(CCtx_setParameter, size_t, (ZSTD_CCtx *, ZSTD_cParameter, int) )                           \
    ROW(isError, unsigned, (size_t))                                                               \
    ROW(createDCtx, ZSTD_DCtx *, (void) )                                                          \
    ROW(freeDCtx, size_t, (ZSTD_DCtx *) )                                                          \
    ROW(decompressDCtx, size_t, (ZSTD_DCtx *, void *, size_t, const void *, size_t))

static struct {
#define POINTER(name, result, parameters) result(*name) parameters;
    FUNCTIONS(POINTER)
#undef POINTER
} zstd;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool is_loaded;
static char fault[256];

static bool find_functions(void *library)
{
    bool all = true;
#define FIND(name, result, parameters)                                                             \
    zstd.name = (result(*) parameters) dlsym(library, "ZSTD_" #name);                              \
    all = all && zstd.name != NULL;
    FUNCTIONS(FIND)
#undef FIND
    if (!all)
        snprintf(fault, sizeof fault, LIBRARY ": too old");
    return all;
}

/* Looks where the system has it, then beside this module.
 *
 * The library is not linked, because a JVM with a linked agent would fail to start where it is
 * missing, with the loader's message and without the agent's. RTLD_LOCAL keeps its symbols from
 * other libraries of the program, which may have a libzstd of another version; the functions below
 * are hidden in this module for the same reason. It is loaded once and never closed: the drain
 * thread may be inside it whenever the process ends. */
static void load(void)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    Dl_info place;
    char path[PATH_MAX];
    if (library == NULL)
        snprintf(fault, sizeof fault, "%s", dlerror());
    if (library == NULL && dladdr(&once, &place) != 0 && place.dli_fname != NULL) {
        const char *slash = strrchr(place.dli_fname, '/');
        int stem = slash != NULL ? (int) (slash - place.dli_fname) + 1 : 0;
        int length = snprintf(path, sizeof path, "%.*s" LIBRARY, stem, place.dli_fname);
        if (slash != NULL && length < (int) sizeof path)
            library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    is_loaded = library != NULL && find_functions(library);
}

void late_zstd_find(void)
{
    pthread_once(&once, load);
}

bool late_zstd_load(const char *consequence)
{
    pthread_once(&once, load);
    if (!is_loaded)
        log_message("%s: install it (package libzstd1 or libzstd) or put it beside this library%s",
                    fault, consequence);
    return is_loaded;
}

ZSTD_CCtx *ZSTD_createCCtx(void)
{
    pthread_once(&once, load);
    return is_loaded ? zstd.createCCtx() : NULL;
}

ZSTD_DCtx *ZSTD_createDCtx(void)
{
    pthread_once(&once, load);
    return is_loaded ? zstd.createDCtx() : NULL;
}

size_t ZSTD_freeCCtx(ZSTD_CCtx *context)
{
    return context != NULL ? zstd.freeCCtx(context) : 0;
}

size_t ZSTD_freeDCtx(ZSTD_DCtx *context)
{
    return context != NULL ? zstd.freeDCtx(context) : 0;
}

/* A context or a result exists only if the library is loaded. */
size_t ZSTD_compressCCtx(ZSTD_CCtx *context, void *out, size_t room, const void *data,
                         size_t length, int level)
{
    return zstd.compressCCtx(context, out, room, data, length, level);
}

size_t ZSTD_compress2(ZSTD_CCtx *context, void *out, size_t room, const void *data, size_t length)
{
    return zstd.compress2(context, out, room, data, length);
}

size_t ZSTD_CCtx_setParameter(ZSTD_CCtx *context, ZSTD_cParameter parameter, int value)
{
    return zstd.CCtx_setParameter(context, parameter, value);
}

unsigned ZSTD_isError(size_t result)
{
    return zstd.isError(result);
}

size_t ZSTD_decompressDCtx(ZSTD_DCtx *context, void *out, size_t room, const void *data,
                           size_t length)
{
    return zstd.decompressDCtx(context, out, room, data, length);
}

#else

void late_zstd_find(void)
{
}

bool late_zstd_load(const char *consequence)
{
    (void) consequence;
    return true; /* this build does not use libzstd */
}

#endif
