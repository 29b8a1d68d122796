/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Client of HotSpot's attach protocol.  The file .attach_pidN and a SIGQUIT make the JVM listen on
 * the socket .java_pidN in its /tmp.  A request is a protocol version and four strings, each
 * terminated by a zero byte.
 */
#ifndef CONVERTER_ATTACH_ATTACH_PROTOCOL_H
#define CONVERTER_ATTACH_ATTACH_PROTOCOL_H

#include "converter/attach/jvm_process.h"

/* Makes the JVM load the agent at `path` (a path in the JVM's file system) with `options`.  If the
 * agent is loaded already, it receives the options.  Returns IO with the JVM's answer if that
 * fails. */
enum step_status attach_load(const struct jvm_process *process, const char *path,
                             const char *options, struct step_error *error);

/* Makes the JVM run a diagnostic command (as jcmd does; no agent is loaded), and writes its text to
 * `answer`, with a terminating 0 byte.  Returns IO if it fails or the text does not fit. */
enum step_status attach_ask(const struct jvm_process *process, const char *command, char *answer,
                            size_t size, struct step_error *error);

#endif
