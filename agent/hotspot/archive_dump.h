/* SPDX-License-Identifier: Apache-2.0 */
/* Detects JVMs that make an archive of classes (CDS, an AOT cache). */
#ifndef AGENT_HOTSPOT_ARCHIVE_DUMP_H
#define AGENT_HOTSPOT_ARCHIVE_DUMP_H

#include <stdbool.h>

struct options;

/* Call when the JVM has read its options, before a session is prepared. Code that the bytecode
 * engine adds to classes does not fit into an archive, and some JVMs crash when they make one. A
 * JVM that runs a program and also makes an archive is traced with engine=jvmti, which this sets in
 * `options`. Returns false if the JVM must not be traced at all. Logs both cases. */
bool archive_dump_allows(struct options *options);

#endif
