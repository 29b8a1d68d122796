/* SPDX-License-Identifier: Apache-2.0 */
/* The JDK's classes from its archive (CDS). They are linked, and the mirrors of most have their
 * identity hash. If the agent changes such a class while it is loaded, the JVM parses and links it
 * like any other, and draws a hash for its mirror that it would not have drawn otherwise. */
#ifndef AGENT_HOTSPOT_ARCHIVED_CLASSES_H
#define AGENT_HOTSPOT_ARCHIVED_CLASSES_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads their names, once, if this JVM uses an archive. */
void archived_classes_read(void);

/* Call when a class of this name is about to be loaded, changed or not. Even an unchanged one is
 * parsed if a superclass or interface was. */
void archived_class_loads(const char *name, bool changed);

/* Call when a class has been loaded but is not linked yet. */
void archived_class_loaded(jclass class);

/* Returns true if this class of the boot loader, whose class file this is, contains a lambda
 * expression whose class is also in the archive. Called only for classes that were changed. */
bool archived_class_has_lambda(jclass class, const uint8_t *bytes, size_t length);

#endif
