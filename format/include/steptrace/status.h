/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Status codes, and the error report that functions of libsteptrace fill.
 *
 * A function that can fail returns `enum step_status` and accepts an optional `struct step_error *`
 * (NULL if the caller does not need details).  The caller owns the storage; nothing in it is
 * allocated, so it needs no clean-up.  The first failure fills it; callers may add context with
 * step_error_prefix().
 */
#ifndef STEPTRACE_STATUS_H
#define STEPTRACE_STATUS_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* The declarations below are exported by the shared library. */
#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

#define STEP_STATUS_LIST(X)                                                                        \
    X(OK, "ok")                                                                                    \
    X(END, "no more records")                                                                      \
    X(NO_MEMORY, "out of memory")                                                                  \
    X(IO, "input or output failed")                                                                \
    X(CORRUPT, "the data is damaged")                                                              \
    X(CUT, "the data ends too early")                                                              \
    X(FORMAT, "not a file of this format")                                                         \
    X(UNSUPPORTED, "not supported")                                                                \
    X(INVALID, "invalid argument or definition")                                                   \
    X(LIMIT, "a limit was reached")                                                                \
    X(NOT_FOUND, "not found")                                                                      \
    X(BUSY, "in use by another process")

enum step_status {
#define STEP_STATUS_ENUM(name, text) STEP_STATUS_##name,
    STEP_STATUS_LIST(STEP_STATUS_ENUM)
#undef STEP_STATUS_ENUM
        STEP_STATUS_COUNT
};

/* `offset` is a byte offset in `file` (STEP_NO_OFFSET: none).  Both texts are NUL-terminated, and
 * truncated if they do not fit. */
struct step_error {
    enum step_status status;
    uint64_t offset;
    char file[256];
    char message[512];
};

#define STEP_NO_OFFSET UINT64_MAX

/* Return the upper-case name of a status ("CORRUPT") and its short text; never NULL. */
const char *step_status_name(enum step_status status);
const char *step_status_text(enum step_status status);

/* Fills `error` (may be NULL) and returns `status`, so that a caller can `return
 * step_error_set(...)`.  `file` may be NULL. */
#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
enum step_status
step_error_set(struct step_error *error, enum step_status status, const char *file, uint64_t offset,
               const char *format, ...);

/* Inserts `context` and ": " before the message. */
void step_error_prefix(struct step_error *error, const char *context);

/* Writes "file: offset N: message", as far as these are set and escaped by step_show(), to `out`,
 * always NUL-terminated. */
void step_error_print(const struct step_error *error, char *out, size_t out_size);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop

#endif
