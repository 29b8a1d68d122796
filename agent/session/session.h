/* SPDX-License-Identifier: Apache-2.0 */
/* A session, one trace from its start to its end. */
#ifndef AGENT_SESSION_SESSION_H
#define AGENT_SESSION_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/base/tracer.h"

/* Creates the trace's files. Returns NULL, with a message, on failure. The caller of this and of
 * session_begin() holds the control lock, except at load, when there is one thread. */
struct session *session_prepare(const struct options *options);
/* Starts recording, in the live phase. Takes ownership of the session, also on failure, when its
 * files are removed and the classes are restored. */
bool session_begin(struct session *session, JNIEnv *jni);
/* Returns the end of a message about a trace that cannot begin. */
const char *session_consequence(void);
/* Removes the files of a session that was not begun, and frees it. */
void session_discard(struct session *session);
/* Runs `errand` in the drain thread and waits for it. NULL: the thread drains from now on. Returns
 * false if it failed, or did not return because a disk does not answer. */
bool session_errand(struct session *session, bool (*errand)(struct session *session));
/* Write one property, and all with which a trace begins. Call before the first block. */
void session_put_property(struct session *session, const char *key, const char *value);
void session_put_provenance(struct session *session);
/* Ends the trace, if there is one, and waits until the file is closed: for `limit_ns` at most, and
 * at VM death for as long as finish= says. Returns false if it is not closed. */
bool session_stop(enum session_end end, uint64_t limit_ns);
bool session_flush(void);
void session_log_status(void);
/* Writes the name of the file with its number before the extension. */
void session_numbered_name(const struct options *options, char *out, size_t size);
const char *session_end_name(enum session_end end);

/* The drain thread, which alone has the files' descriptors. */

/* Main function of the thread; `session` is a struct session. */
void *session_drain_run(void *session);
/* Returns true if a trace that is to end has waited for the writer process for long enough. */
bool session_drain_gives_up(void *session, uint64_t waited_ns);

/* Chooses the engine of a session. */

/* Returns the engine that the options select. */
const struct engine *engine_of_options(const struct options *options);
/* At load: on a JDK newer than all that were tested, engine=jvmti may have to replace
 * engine=bytecode, and must be prepared before the first thread exists. */
void engine_choice_prepare(const struct options *options);
/* Sets the members of a session that depend on its engine. */
void engine_choice_apply(struct session *session);
/* In the live phase, before the session begins: checks that its engine works in this JVM. If not,
 * replaces it with engine=jvmti or marks the trace as incomplete. Returns false, with a message, if
 * the session cannot begin. */
bool engine_choice_settle(struct session *session, JNIEnv *jni);

/* The account of a session's memory: peaks by part, and the ceiling memory=. */

struct drain;

/* Before the files are opened: makes the ring and the writer's share of memory= smaller. */
void memory_account_limit(struct options *options, struct step_writer_options *writing);
/* The drain thread, in each of its passes: measures all parts. If they are above the ceiling, calls
 * `give_back`, and returns false if they still are. Logs that. */
bool memory_account_keep(struct session *session, void (*give_back)(struct drain *drain),
                         struct drain *drain);
/* Writes the peaks as properties. */
void memory_account_put(const struct session *session, struct drain *drain);

/* Guards: the agent's own share of the program's time, and what is done when it is too large. */

/* When the session has begun. */
void guards_begin(struct session *session);
/* Call before a trace that follows no other changes anything: stops that were, are not its own. */
void guards_forget_stops(void);
/* The drain thread, in each of its passes, after memory_account_keep(). Returns false if the trace
 * must end, with a message, and sets its end. */
bool guards_keep(struct session *session);
/* Writes what was measured as properties. */
void guards_put(const struct session *session, struct drain *drain);

/* What threads allocated without a record, by the JVM's own counters. */

/* Returns whether the session begins late and records all allocations: then threads may have missed
 * some, and the decoder counts what was recorded. */
bool missed_bytes_are_wanted(const struct session *session);
/* Read the counters: when probes see a session that begins late, and existing objects have been
 * recorded; and when probes are about to see it no more. */
void missed_bytes_begin(struct session *session, JNIEnv *jni);
void missed_bytes_end(struct session *session);
/* The drain thread, when all records are decoded: writes the difference as properties. */
void missed_bytes_put(const struct session *session, struct drain *drain);
/* Logs it. */
void missed_bytes_report(const struct session *session);
void missed_bytes_free(struct session *session);

/* start=METHOD and stop=METHOD: methods whose entry begins the trace and whose return ends it.
 *
 * Until a start= method is entered, the session is prepared but not begun, and only such methods
 * have probes. The first entry of a stop= method during the trace chooses the thread and the call
 * whose return ends the trace. */

/* Call once, at load. The first thread that enters a method of start= of an exact window calls the
 * function, which returns false if a later one is to call it again. */
void triggers_initialize(bool (*window)(void));
/* Lets the session wait for its start and takes ownership of it. Returns false if that fails; then
 * the session is discarded. The caller holds the control lock, except at load. */
bool trigger_arm(struct session *session, JNIEnv *jni);
/* Lets an exact window wait for its start, while a sample is recorded. Returns false if that fails.
 */
bool trigger_arm_window(const struct options *options, JNIEnv *jni);
/* Discards the session or the window that waits, and its files; says so if no method was entered.
 * Returns true if there was one. */
bool trigger_disarm(void);
/* Returns what waits for a method of start=, or NULL. */
const char *trigger_who_waits(void);
/* Returns true if such a method was entered since the window began to wait. */
bool trigger_was_entered(void);

/* The call of a stop= method whose return ends the trace. The first entry during a trace chooses
 * the thread; the return of the outermost of that thread's calls ends the trace. */

/* Call when a session begins: its stop= methods have not been entered yet. */
void stop_call_expect(const struct session *session);
/* Call when the calling thread enters such a method. */
void stop_call_enter(void);
/* Call when it leaves one. Returns true if this ends the trace. */
bool stop_call_leave(void);

/* duration=: a trace that ends after a time. */

/* At load: sets the function that ends the trace. */
void duration_initialize(void (*end)(void));
/* Before a trace begins: starts the thread that will end it, if it lasts so long (0: it has no such
 * end). Java threads only. */
bool duration_prepare(uint64_t duration_ns);
/* When it has begun, or could not. */
void duration_settle(uint64_t duration_ns, bool has_begun);
/* When it has ended: nothing is to be ended any more. */
void duration_forget(void);

/* dormant: an agent that does nothing until a command comes. */

/* Runs a command in a Java thread, as an attach does. */
typedef jint dormant_command(JavaVM *vm, const char *text);
/* At load: keeps the options, and starts the thread that looks for the file of wake=. Returns false
 * if the JVM must not run. */
bool dormant_begin(JavaVM *vm, const struct options *options, dormant_command *run);
/* Parses a command to an agent in a running JVM: in a dormant one the options of load time come
 * first, and its limits hold. Returns false if there was a fault. */
bool dormant_parse(struct options *options, const char *text);

/* rotate=: a trace is followed by the next one, in a file of its own; keep= of them stay. */

/* At load: sets the function that begins a trace. */
typedef jint rotation_start(struct options *options);
void rotation_initialize(rotation_start *start);
/* After the first trace has begun: starts the thread that begins the others, if the options have
 * rotate=. Java threads only. */
void rotation_begin(const struct options *options);
/* Before a command ends the trace: no other will follow it. */
void rotation_end(void);
/* All objects, for window= or until a method of stop= has returned, in a file of their own; then
 * the sample goes on. With start=, the window waits until such a method is entered. Returns false,
 * with a message, if that is not possible. */
bool rotation_window(const struct options *options);
/* A thread has entered such a method: waits until the window has begun, PATIENCE_NS at most.
 * Returns false if no window waits, or if the files are being changed for a second already. */
bool rotation_window_entered(void);

/* The files that the thread has made, under its lock. `options` are the first trace's,
 * `file_number` is that of the file that is being written. */

/* Begins a list that holds `keep` files and the one that is being written. Returns false if memory
 * runs out. */
bool ring_files_begin(uint64_t keep);
/* Notes the file of the trace that has just begun: what has its name later may be another's.
 * Without rotate=, all files stay. */
void ring_files_note(const struct options *options);
/* Removes the oldest files beyond that number. */
void ring_files_keep(uint64_t keep);
/* Returns false if the only file of a trace is to get a name that is not free, with a message. */
bool ring_files_first_can_be_named(const struct options *options, uint64_t file_number);
/* Renames it: the name without a number stands for all files from now on. */
void ring_files_name_first(const struct options *options, uint64_t file_number);
void ring_files_forget(void);

#endif
