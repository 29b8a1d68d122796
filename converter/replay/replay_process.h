/* SPDX-License-Identifier: Apache-2.0 */
/* A process of the replay driver, with an allocator preloaded. */
#ifndef CONVERTER_REPLAY_REPLAY_PROCESS_H
#define CONVERTER_REPLAY_REPLAY_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "steptrace/status.h"

struct replay_process {
    pid_t id;
    bool has_ended; /* as far as was looked */
    int wait_status;
};

/* Starts `program`, which gets `file` as it is open here; `library` may be empty. */
enum step_status replay_process_start(struct replay_process *process, const char *program,
                                      const char *library, int file, struct step_error *error);
/* Looks, without waiting. */
bool replay_process_has_ended(struct replay_process *process);
void replay_process_kill(const struct replay_process *process);
/* Waits for the end; IO if it was by a signal or with another exit code than 0: the message names
 * the program and the allocator. */
enum step_status replay_process_wait(struct replay_process *process, const char *program,
                                     const char *allocator, struct step_error *error);
/* That error: also of a driver that left without a result. */
enum step_status replay_process_failed(const struct replay_process *process, const char *program,
                                       const char *allocator, struct step_error *error);

#endif
