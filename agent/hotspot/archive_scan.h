/* SPDX-License-Identifier: Apache-2.0 */
/* The classes in the JVM's archive (CDS), loaded or not. */
#ifndef AGENT_HOTSPOT_ARCHIVE_SCAN_H
#define AGENT_HOTSPOT_ARCHIVE_SCAN_H

#include <stddef.h>

/* Calls `found` with the name of each class, as class files have it (not ended by a 0 byte). Arrays
 * are no classes here; hidden classes are.  Does nothing where the JVM uses no archive or is
 * not as it should be. */
void archive_scan(void (*found)(const char *name, size_t length));

#endif
