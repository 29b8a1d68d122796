/* SPDX-License-Identifier: Apache-2.0 */
/* The process that writes a trace's files for a JVM, so that no thread of the JVM waits for a disk.
 * It also copies the JVM's ring from memory to the live file, every 100 ms and when the JVM has
 * ended. It is started from the agent's own library. */
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
    /* Returns true if a call that has waited that long shall stop waiting. NULL: the limit is 60
     * s. */
    bool (*gives_up)(void *owner, uint64_t waited_ns);
    void *owner;
};

/* Starts it with a ring of `ring_bytes` bytes, which are mapped but not populated. Returns NULL on
 * failure; error->message has the reason. */
struct writer_process *writer_process_start(uint64_t ring_bytes, struct step_error *error);
/* Makes one call. Returns false on failure and sets status and message of `error`. */
bool writer_process_call(struct writer_process *writer, enum writer_operation operation,
                         uint64_t length, struct step_error *error);
/* Call when no call follows. A writer that was not ended by WRITER_END copies the rest to the live
 * file. */
void writer_process_leave(struct writer_process *writer);
/* Unmaps the ring and frees `writer`. */
void writer_process_destroy(struct writer_process *writer);

/* Keeps the library that contains this code, which is the program of the writer process, as it is
 * now.  Call it when the library has been loaded, before its file is removed or its name given to
 * another; later calls do nothing.  Returns 0, or an errno. */
int writer_process_keep_library(void);
/* Main function of the writer process; see writer_main.c. */
int writer_process_main(int count, char **arguments);

#endif
