/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HotSpot's attach protocol: a file .attach_pidN and SIGQUIT make the JVM listen at .java_pidN in
 * its /tmp; a request is a version and four texts, each ended by a zero byte.
 */
#ifndef CONVERTER_ATTACH_ATTACH_PROTOCOL_H
#define CONVERTER_ATTACH_ATTACH_PROTOCOL_H

#include "converter/attach/jvm_process.h"

/* Lets the JVM load the agent at `path` (as the JVM sees it) with these options, or hands them to
 * it if it is there.  IO: with what the JVM said. */
enum step_status attach_load(const struct jvm_process *process, const char *path,
                             const char *options, struct step_error *error);

#endif
