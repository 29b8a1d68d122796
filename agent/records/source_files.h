/* SPDX-License-Identifier: Apache-2.0 */
/* Source files of classes, as their class files name them: attributes SourceFile and
 * SourceDebugExtension (JSR 45). */
#ifndef AGENT_RECORDS_SOURCE_FILES_H
#define AGENT_RECORDS_SOURCE_FILES_H

#include "agent/base/tracer.h"

/* Asks the JVM for the attributes' names and texts. HotSpot keeps SourceDebugExtension only if it
 * is asked at load: an attached agent gets none. */
void source_files_prepare(void);
/* Writes the source file of a class with this number in the trace, once in a session; nothing for a
 * class that names none. The caller holds no lock. */
void source_file_define(struct session *session, jclass mirror, uint64_t class);

#endif
