/* SPDX-License-Identifier: Apache-2.0 */
/* redact=names: what stands in a trace in place of names that are not the JDK's.
 *
 * A name becomes a letter for what it is of, and a number: the same name has the same number in all
 * traces of a process, and another one in the next process. Any thread that may call JVMTI. */
#ifndef AGENT_RECORDS_REDACTION_H
#define AGENT_RECORDS_REDACTION_H

#include "agent/base/tracer.h"

#define REDACTION_BYTES 32u

static inline bool redaction_of_names(const struct session *session)
{
    return (session->options.redact & REDACT_NAMES) != 0;
}

/* Returns true if the boot or the platform loader has a named module with the package of this class
 * (p/Name, or of an array), and for primitive types. A class of another loader is not spared. */
bool redaction_spares_class(const char *class_name);
/* Returns what stands for the name of a class that is not spared (an array's as it is written in
 * descriptors), to be freed by the caller; NULL: out of memory. */
char *redaction_class(const char *class_name);
/* The same for a descriptor, or for several in a row: each class in it is replaced, but those of
 * java/. */
char *redaction_descriptor(const char *descriptor);
/* Writes what stands for a name. */
void redaction_name(char letter, const char *name, char out[REDACTION_BYTES]);

/* SipHash-2-4 of the bytes under a key. */
uint64_t redaction_hash(uint64_t low, uint64_t high, const char *bytes, size_t length);

/* The numbers of classes whose methods and fields keep their names. */
void redaction_note_class(const struct session *session, uint64_t class, bool spared);
bool redaction_spares(const struct session *session, uint64_t class);

#endif
