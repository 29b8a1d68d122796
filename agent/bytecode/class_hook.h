/* SPDX-License-Identifier: Apache-2.0 */
/* The class file hook: while it is on, classes that are loaded or retransformed get probes. It
 * decides which probes each of their methods gets. */
#ifndef AGENT_BYTECODE_CLASS_HOOK_H
#define AGENT_BYTECODE_CLASS_HOOK_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/base/tracer.h"

/* The kinds of probes that classes get. The engine sets them while the hook is off. */
struct class_hook {
    /* while the hook is on; valid until no thread rewrites a class */
    const struct options *_Atomic options;
    struct session *session;                        /* NULL between traces with probes=keep */
    bool armed;                                     /* only methods of start= get probes */
    bool alloc, method, nameless, references, leaf; /* as in a struct rewrite_request */
    uint32_t compiled_bytes; /* size of the largest method that the JVM compiles; 0: any */
};
extern struct class_hook class_hook;

void class_hook_on(void);
bool class_hook_is_on(void);
/* Afterwards no thread uses the session and the options any more. If a thread is stopped while it
 * does, the session is never freed; returns false then, and the options stay, too. */
bool class_hook_off(void);
/* Replaces the options while the hook is on, so that no class is loaded without probes. Returns
 * false if a thread may still use the old ones. */
bool class_hook_take_options(const struct options *options);

/* Callback of JVMTI's event. */
void JNICALL class_hook_on_file(jvmtiEnv *jvmti, JNIEnv *jni, jclass redefined, jobject loader,
                                const char *name, jobject domain, jint length,
                                const unsigned char *bytes, jint *new_length,
                                unsigned char **new_bytes);
/* Same for a hidden class, which has no such event. Returns the class file with probes, to be freed
 * with free(), or NULL if it stays as it is. */
uint8_t *class_hook_hidden(JNIEnv *jni, jobject loader, const uint8_t *bytes, size_t length,
                           size_t *new_length);

/* Passes loaded classes through the hook again: those that get probes, those with a method of
 * start= or stop=, or those that were changed. */
enum class_choice { CLASSES_WANTED, CLASSES_WATCHED, CLASSES_CHANGED };
struct retransformed class_hook_retransform(JNIEnv *jni, enum class_choice choice, bool gentle);
/* Gives the classes whose methods make phases now, or did with the options of the last trace, other
 * probes. */
void class_hook_change_phases(JNIEnv *jni, const struct options *last);
/* Forgets which classes were changed. */
void class_hook_forget(void);
/* Makes the JVM's first calls of Java code for the hook happen now. */
void class_hook_meet(JNIEnv *jni);

/* Passes loaded classes through the class file hook again. */

/* Selects loaded classes to retransform. */
typedef bool class_test(JNIEnv *jni, jobject loader, const char *name);
/* Called for each class that the JVM refuses. */
typedef void class_refused(jclass class, jvmtiError code);

/* How many classes were retransformed, and in how many calls of the JVM. */
struct retransformed {
    uint32_t classes, slices;
};

void retransform(const jclass *classes, jint count, class_refused *refused);
/* Retransforms the loaded classes that pass the test: in one call or, if `gentle`, in slices with
 * pauses between them, which end after 20 s; the rest then comes without pauses. Stops when the JVM
 * ends. */
struct retransformed retransform_loaded(JNIEnv *jni, class_test *test, class_refused *refused,
                                        bool gentle);

/* Self-test: can this JDK's own classes have probes? A few of them get probes before a session
 * begins. If the rewriter does not support their class file version or form, it supports no class
 * of this JDK, as they are alike in that, and a trace would miss nearly everything. */

/* Runs the test on a Java thread. Returns NULL if the classes can have probes, and keeps these.
 * Otherwise returns the reason, and the classes have none. switch_engine() switches rewriting and
 * the class file hook on or off. */
const char *engine_proof(JNIEnv *jni, void (*switch_engine)(bool rewrite, bool hook));

/* Returns true if the calling thread runs the test. The engine calls this and the functions
 * below. */
bool engine_proof_runs(void);
/* Call when the hook has seen one of the classes. */
void engine_proof_seen(void);
/* Call when a class, or a method, gets no probes. */
void engine_proof_fail(const char *class_name, const char *method_name, const char *reason);

/* Methods that the JVM compiles without probes but not with them (-XX:+DontCompileHugeMethods, the
 * default: none over 8,000 bytes). If omitting the probes of their events helps, they are omitted,
 * and the trace lists the methods like others without probes. The remaining ones are counted
 * here. */

#define HUGE_METHODS_TEXT 2048u

/* Call when a session begins. Returns the size of the largest method that the JVM compiles, 0 if it
 * compiles all. */
uint32_t huge_methods_begin(void);
/* Records that the method has probes and will be interpreted; logs the first one. */
void huge_method_add(const char *class_name, const char *method_name, const char *descriptor);
/* Writes "2: a/B.c()V, a/B.d()V", with as many as there is room for. Returns false if there are
 * none. */
bool huge_methods_describe(char text[HUGE_METHODS_TEXT]);

/* The methods of start= and stop=, by the numbers of their probes. */

enum trigger { TRIGGER_START = 1, TRIGGER_STOP = 2 };

/* Actions of the triggers. */
struct watch_actions {
    void (*entered)(JNIEnv *jni, unsigned triggers);
    void (*left)(unsigned triggers);
};

/* Sets the actions, once, before such methods have probes; `actions` must stay valid. */
void watched_methods_act(const struct watch_actions *actions);
/* Marks probes with this number, of method_new_number(), as those of such a method, in this
 * session. */
void watched_method_add(uint32_t number, unsigned triggers);
/* Removes all triggers; when a session begins or is armed. */
void watched_methods_forget(void);
/* Called first in a method with probes, before its entry is recorded; may begin the trace. */
void watched_method_entered(JNIEnv *jni, uint32_t number);
/* Called last in such a method, after its exit was recorded; may end the trace. */
void watched_method_left(uint32_t number);

#endif
