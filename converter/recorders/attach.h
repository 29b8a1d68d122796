/* SPDX-License-Identifier: Apache-2.0 */
/* Attaching to a running JVM: facts about its process, work with the rights of its user, its files,
 * the attach protocol, and the directory that is shared with a JVM in a container. */
#ifndef CONVERTER_RECORDERS_ATTACH_H
#define CONVERTER_RECORDERS_ATTACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "steptrace/status.h"

#define IO_FAIL(error, ...) step_error_set(error, STEP_STATUS_IO, NULL, STEP_NO_OFFSET, __VA_ARGS__)

#define REFUSE(error, ...)                                                                         \
    step_error_set(error, STEP_STATUS_INVALID, NULL, STEP_NO_OFFSET, __VA_ARGS__)

/* Facts about a running JVM that attaching needs, read from /proc. */

struct jvm_process {
    pid_t pid;
    pid_t inner_pid; /* in its own PID namespace */
    uid_t uid;       /* effective */
    gid_t gid;
    gid_t *groups; /* supplementary */
    size_t group_count;
    int root;                       /* its root directory, opened with O_PATH */
    int mount_namespace;            /* descriptor that keeps its mounts after it has ended */
    bool is_elsewhere;              /* it has another mount namespace or root directory */
    unsigned java_version;          /* 0: unknown */
    char agent[256];                /* path of the loaded agent, or "" */
    unsigned long long start_ticks; /* distinguishes it from a later process with the same id */
};

/* Fills in `process`.  Returns INVALID with a reason if there is no such process, it is not a JVM,
 * it does not accept attach requests, or it may not be inspected.  Call jvm_process_close() in any
 * case. */
enum step_status jvm_process_find(pid_t pid, struct jvm_process *process, struct step_error *error);
/* The same for any process, JVM or not, and without what is of JVMs: whose it is, and its root
 * directory. */
enum step_status jvm_process_find_files(pid_t pid, struct jvm_process *process,
                                        struct step_error *error);
void jvm_process_close(struct jvm_process *process);
/* Returns true if the process is of another user than this program, or in a container that root
 * looks into: its files are read with its rights. */
bool jvm_process_is_foreign(const struct jvm_process *process);
bool jvm_process_is_there(const struct jvm_process *process);

/*
 * Runs work in a child process that has the rights of a JVM's user.  All access to the JVM's files,
 * its /tmp or its socket happens in such a child, never in the caller.  A hostile process that
 * links, mounts or swaps files there can therefore only reach what its own user can reach.
 *
 * The child has the user id, group id and supplementary groups of the JVM, and no capabilities.  It
 * returns bytes through a pipe, and a status.  The caller opens none of the JVM's files.
 */

/* Runs in the child.  The caller's `receive` gets the bytes that it writes to `output`. */
typedef enum step_status target_work(const struct jvm_process *process, void *context, int output,
                                     struct step_error *error);
/* Runs in the caller, for each chunk of the child's output. */
typedef enum step_status target_receive(void *receiver, const void *data, size_t length,
                                        struct step_error *error);

/* Text that the child writes. */
struct target_text {
    char *text;
    size_t size, length;
    bool cuts; /* what does not fit is left out, which ends the call; else it is an error */
};
/* The receiver of such a text. */
target_receive target_text_take;

struct target_call {
    target_work *work;
    void *context;
    target_receive *receive; /* NULL: the child writes nothing */
    void *receiver;
    unsigned limit_s; /* for each MiB of output, and for the end */
    bool enters_root; /* the work sees the JVM's files at the JVM's paths */
};

/* Runs the call and waits for it.  Kills the child when the limit has passed.  Returns the status
 * of the work, or of `receive` if that failed. */
enum step_status target_user_call(const struct jvm_process *process, const struct target_call *call,
                                  struct step_error *error);

/* Gives this program itself the rights of the process's user, for good, so that all that it opens
 * from now on is what that user may open. */
enum step_status target_user_become(const struct jvm_process *process, struct step_error *error);

/*
 * Opens files of a JVM, below its root directory.  For use only in the child of target_user_call():
 * any name there may be a link, a FIFO, a device or a mount point that the JVM's user has just
 * created.
 */

/* Opens a directory or file below the process's root (O_PATH).  Resolves links within that root;
 * kernels before 5.6 refuse them.  Returns -1 with errno on failure. */
int target_files_find(const struct jvm_process *process, const char *path, int flags);
/* Opens `name` in `directory` (O_PATH).  It must be of this type (S_IFREG, ...), belong to the
 * JVM's user, and be neither a link nor a mount point.  Returns -1 with errno on failure and sets
 * `fault` to the reason. */
int target_files_open(const struct jvm_process *process, int directory, const char *name,
                      unsigned type, const char **fault);
/* Opens the regular file of an O_PATH descriptor for reading, and closes that descriptor. */
int target_files_read(int file);

/*
 * Client of HotSpot's attach protocol.  The file .attach_pidN and a SIGQUIT make the JVM listen on
 * the socket .java_pidN in its /tmp.  A request is a protocol version and four strings, each
 * terminated by a zero byte.
 */

/* Makes the JVM load the agent at `path` (a path in the JVM's file system) with `options`.  If the
 * agent is loaded already, it receives the options.  Returns IO with the agent's reason, or
 * the JVM's answer, if that fails; reports the agent's other messages. */
enum step_status attach_load(const struct jvm_process *process, const char *path,
                             const char *options, struct step_error *error);

/* Makes the JVM run a diagnostic command (as jcmd does; no agent is loaded), and writes its text to
 * `answer`, with a terminating 0 byte.  Returns IO if it fails or the text does not fit. */
enum step_status attach_ask(const struct jvm_process *process, const char *command, char *answer,
                            size_t size, struct step_error *error);

struct recording_options;
/* Asks the JVM for the number of its classes, and prints it with estimates of pauses and memory for
 * a recording with these options.  Loads no agent and changes nothing.  Reports errors. */
enum step_status attach_forecast(const struct jvm_process *process,
                                 const struct recording_options *options);

/*
 * The directory through which a JVM in another mount namespace (a container) receives the agent and
 * returns its trace.  The directory is in the JVM's /tmp and belongs to the JVM's user, whose
 * rights every operation there uses (target_user_call()).  It stays reachable after the JVM has
 * ended.
 */

struct shared_place {
    char name[64];   /* in its /tmp; "": not created */
    char agent[256]; /* path as the JVM sees it */
    char trace[128];
};

/* Creates the directory and copies the agent into it, unless the JVM has already loaded an agent
 * from another path. */
enum step_status shared_place_make(const struct jvm_process *process, const char *agent,
                                   struct shared_place *place, struct step_error *error);
/* Returns half of the bytes that are free in the output's file system: the most that a JVM of
 * another user may fill of it.  0 if that is unknown. */
uint64_t half_of_free_space(const char *output);
/* Copies the trace, and its live file if it exists, to `output`.  Each must be a regular file of
 * the JVM's user, and together they may fill at most half of the free space.  Creates new files,
 * with permissions by the umask.  Returns BUSY if one of the names exists. */
enum step_status shared_place_fetch(const struct jvm_process *process,
                                    const struct shared_place *place, const char *output,
                                    struct step_error *error);
/* Removes the directory and its contents.  The JVM keeps the agent that it has loaded. */
void shared_place_remove(const struct jvm_process *process, struct shared_place *place);

/* Writes the first free name to `out`: `wanted`, or `wanted` with a number before its extension
 * (run.2.step).  A name is free if neither a trace nor a live file has it.  Returns false if there
 * is none or it is too long. */
bool trace_name_free(const char *wanted, char *out, size_t size);

#endif
