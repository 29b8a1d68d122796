/* SPDX-License-Identifier: Apache-2.0 */
/* Classes and class loaders: their names and their numbers in the trace.
 *
 * Tags: an object's JVMTI tag is its id and, above that, the number of the trace that assigned it;
 * all files of rotate= have the first one's. An object that an earlier trace tagged has no id in
 * this one. Class mirrors and class loaders, which are objects too, have a tag with a mark and an
 * index into a table, whose entry also holds their object id. */
#ifndef AGENT_RECORDS_CLASSES_H
#define AGENT_RECORDS_CLASSES_H

#include "agent/base/tracer.h"

#define TAG_CLASS (INT64_C(1) << 62)
#define TAG_LOADER (INT64_C(1) << 61)
#define TAG_MARKS (TAG_CLASS | TAG_LOADER)
/* Tag of an object that lost its tag and got it again: the JVM will report its death twice. */
#define TAG_AGAIN (INT64_C(1) << 60)
/* Tag during a snapshot, of an object that a weak reference refers to. */
#define TAG_PASSING (INT64_MIN | TAG_AGAIN)
#define TAG_ID_BITS 48u
#define TAG_SESSIONS 4096u

struct os_thread;

/* Returns the loader's number in this JVM, assigned at first use; not for the boot loader. 0: out
 * of memory. */
uint64_t loader_number(jobject loader);

/* Returns the class's number in the session's dictionary, and writes its class load event if it is
 * new. 0: the JVM cannot name it. */
uint64_t class_number(struct session *session, jclass class);
/* Defines a class of arrays that has no entry in the table, in a pause: returns its number; 0: out
 * of memory. */
uint64_t class_define(struct session *session, const char *name, size_t length, uint64_t loader);
/* Same as class_number(), and sets the name as in a class file, valid as long as the class is
 * loaded. */
uint64_t class_number_and_name(struct session *session, jclass class, const char **name);
/* Same, through the thread's cache, since the tag map has one lock for all threads. The entry is
 * valid until the next call. */
struct class_cache_entry *class_cached(struct session *session, struct os_thread *os, JNIEnv *jni,
                                       jclass class);
/* Returns the name as in a class file, valid as long as the class is loaded. NULL: the tag is not a
 * class's. */
const char *class_name_of_tag(jlong tag);
/* For a class that has a number: returns the logarithm of the size of an array's elements,
 * `references` for references. Negative: it is not an array. */
int class_element_shift(jclass class, int references);
/* Same for the class with this tag, without calling the JVM. */
int class_element_shift_of_tag(jlong tag, int references);
/* Writes the load event of a class that has just been loaded, or was before tracing started. A
 * class that is not linked yet gets no tag. */
void class_loaded(struct session *session, jclass class, bool existing);
/* Returns the number of the class with this tag, without calling the JVM; 0 if it has none yet. */
uint64_t class_number_of_tag(const struct session *session, jlong tag);
/* Returns true if objects of the class with this tag fill gaps that a collector left in the heap
 * (JDK 20 and later; before that they are ordinary objects of java.lang.Object and int[]). */
bool class_is_filler(jlong tag);

/* Returns the tag of an object that gets its id in this session, or in this ring of files. */
jlong tag_of_object(const struct session *session, uint64_t object);
jlong tag_in_ring(uint64_t ring_number, uint64_t object);
/* Returns the object id in a tag, 0 if it has none in this session, or with rotate= in one before
 * it. */
uint64_t object_of_tag(const struct session *session, jlong tag);
/* The same between two files of rotate=. */
uint64_t object_of_ring(uint64_t ring_number, jlong tag);
/* Removes the ids of objects that an earlier session tagged if that session's number has the same
 * bits in tags as this one's. Call before probes find the session, on a Java thread. */
void tags_forget(struct session *session);
/* Frees the entries of unloaded classes. Call on a Java thread, before probes find a session and
 * after all probes of the last one, which had this number, have ended: threads keep references to
 * these classes. */
void classes_forget_unloaded(JNIEnv *jni, uint64_t last_session);
/* Gives a class mirror or loader that has no object id in this session the id `object`. Returns
 * false if it has one. */
bool object_claim_tag(const struct session *session, jlong tag, uint64_t object);

/* Returns true for all loaders except the boot and the platform loader. Call once before probes
 * run. */
bool class_is_of_application(JNIEnv *jni, jobject loader);

#endif
