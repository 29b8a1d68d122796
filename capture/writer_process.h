/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that writes a trace's files for a JVM, so that no thread of the JVM ever waits for a
 * disk, and that copies the JVM's ring, which is in memory, to the live file: each 100 ms, and when
 * the JVM has ended.  It is started from the agent's own library.
 */
#ifndef CAPTURE_WRITER_PROCESS_H
#define CAPTURE_WRITER_PROCESS_H

#include <sys/types.h>

#include "capture/writer_calls.h"

struct writer_process {
    pid_t process;
    uint8_t *ring;
    uint64_t ring_bytes;
    struct writer_calls *calls;
    bool is_lost; /* it has ended, or does not answer */
    /* Whether the caller waits no longer for an answer, after that time; asked while it waits.
     * NULL: it waits 60 s. */
    bool (*gives_up)(void *owner, uint64_t waited_ns);
    void *owner;
};

/* Starts it with a ring of that many bytes, all of them mapped, none of them in memory yet.  NULL:
 * error->message has the reason. */
struct writer_process *writer_process_start(uint64_t ring_bytes, struct step_error *error);
/* One call; false: error->status and ->message, where `error` is not NULL. */
bool writer_process_call(struct writer_process *writer, enum writer_operation operation,
                         uint64_t length, struct step_error *error);
/* No call follows.  A writer that was not ended by WRITER_END puts what is left into the live file.
 */
void writer_process_leave(struct writer_process *writer);
/* Unmaps the ring. */
void writer_process_destroy(struct writer_process *writer);

/* The program that is started in place of the library that this code is in; for tests. */
extern const char *writer_process_program;
/* The main function of the process; see writer_main.c. */
int writer_process_main(int count, char **arguments);

#endif
