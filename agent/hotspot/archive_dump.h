/* SPDX-License-Identifier: Apache-2.0 */
/* Whether this JVM makes an archive of classes (CDS, an AOT cache). */
#ifndef AGENT_HOTSPOT_ARCHIVE_DUMP_H
#define AGENT_HOTSPOT_ARCHIVE_DUMP_H

#include <stdbool.h>

struct options;

/*
 * Once the JVM has read its options, before a session is prepared.  What the bytecode engine puts
 * into classes does not fit into an archive, and some JVMs crash when they make one.  So a JVM that
 * runs a program and makes an archive as well is traced with engine=jvmti, which this sets in
 * `options`.  False: it is not to be traced at all.  Both are said on stderr.
 */
bool archive_dump_allows(struct options *options);

#endif
