/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The JDK's classes that come from its archive (CDS), linked and, the mirrors of most, with their
 * identity hash.  When the agent changes such a class as it is loaded, the JVM parses and links it
 * like any other, and draws a hash for its mirror that it would not have drawn.
 */
#ifndef AGENT_HOTSPOT_ARCHIVED_CLASSES_H
#define AGENT_HOTSPOT_ARCHIVED_CLASSES_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads their names, once, if this JVM uses an archive. */
void archived_classes_read(void);

/* The class of this name is about to be loaded: changed, or as it is.  Even then the JVM parses it
 * anew where it does so with one of its superclasses or interfaces. */
void archived_class_loads(const char *name, bool changed);

/* A class has been loaded, but is not linked yet. */
void archived_class_loaded(jclass class);

/* This class of the boot loader has a lambda expression whose class is in the archive, too, and
 * this is the class file of that.  It is asked for only when the former has changed. */
bool archived_class_has_lambda(jclass class, const uint8_t *bytes, size_t length);

#endif
