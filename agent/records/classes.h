/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Classes and class loaders: what the JVM calls them and their numbers in the trace.
 *
 * Tags: an object's JVMTI tag is its id and, above that, the number of the trace that gave it:
 * what an earlier trace tagged has no id in this one.  Class mirrors and class loaders, which are
 * objects too, have a tag with a mark and an index into a table that holds their object id beside
 * the rest.
 */
#ifndef AGENT_RECORDS_CLASSES_H
#define AGENT_RECORDS_CLASSES_H

#include "agent/base/tracer.h"

#define TAG_CLASS (INT64_C(1) << 62)
#define TAG_LOADER (INT64_C(1) << 61)
#define TAG_MARKS (TAG_CLASS | TAG_LOADER)
/* An object that lost its tag and got it again: the JVM will tell twice that it is dead. */
#define TAG_AGAIN (INT64_C(1) << 60)
/* For the time of a snapshot, of an object that a weak reference knows. */
#define TAG_PASSING (INT64_MIN | TAG_AGAIN)
#define TAG_ID_BITS 48u
#define TAG_SESSIONS 4096u

struct os_thread;

/* The loader's number in this JVM, given at first sight; not for the boot loader.  0: out of
 * memory. */
uint64_t loader_number(jobject loader);

/* The class's number in the session's dictionary, with its class load event if it is new; 0 if the
 * JVM cannot name it. */
uint64_t class_number(struct session *session, jclass class);
/* The same, and the name as in a class file, as long as the class is loaded. */
uint64_t class_number_and_name(struct session *session, jclass class, const char **name);
/* The same, through the thread's cache: the tag map has one lock for all threads.  The entry lives
 * until the next call. */
struct class_cache_entry *class_cached(struct session *session, struct os_thread *os, JNIEnv *jni,
                                       jclass class);
/* The name as in a class file, as long as the class is loaded; NULL: it is no class's tag. */
const char *class_name_of_tag(jlong tag);
/* For a class that has a number: the logarithm of the size of an array's elements, `references` for
 * references; negative: it is no array. */
int class_element_shift(jclass class, int references);
/* A class has just been loaded, or was before tracing started: its class load event.  While it is
 * not linked it gets no tag: see untagged_classes.h. */
void class_loaded(struct session *session, jclass class, bool existing);
/* For a class's tag, without calling the JVM; 0 if it has no number yet. */
uint64_t class_number_of_tag(const struct session *session, jlong tag);
/* For a class's tag: its objects fill gaps that a collector left in the heap (JDK 20 and later;
 * before that they are objects of java.lang.Object and int[], like any other). */
bool class_is_filler(jlong tag);

/* The tag of an object that gets its id in this session. */
jlong tag_of_object(const struct session *session, uint64_t object);
/* The object id behind a tag, 0 if it has none in this session. */
uint64_t object_of_tag(const struct session *session, jlong tag);
/* What an earlier session tagged whose number has the same bits in tags loses its id: so many
 * sessions later tags would name it wrongly.  Before the session is seen, on a Java thread. */
void tags_forget(struct session *session);
/* Gives back what is kept of classes that were unloaded.  On a Java thread, before a session is
 * seen and after all probes of the last one, which had this number, have ended: threads keep
 * references of these classes. */
void classes_forget_unloaded(JNIEnv *jni, uint64_t last_session);
/* Gives a class mirror or loader that has no object id in this session the id `object`; false if it
 * has one. */
bool object_claim_tag(const struct session *session, jlong tag, uint64_t object);

/* True for loaders but the boot and the platform loader.  Called once before probes run. */
bool class_is_of_application(JNIEnv *jni, jobject loader);

#endif
