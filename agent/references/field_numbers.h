/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The numbers that probes of stores pass: which field each is, and what that is in the session's
 * dictionary.  A field that is named in the same way by classes of one loader has one number, in
 * all sessions.
 */
#ifndef AGENT_REFERENCES_FIELD_NUMBERS_H
#define AGENT_REFERENCES_FIELD_NUMBERS_H

#include "agent/base/tracer.h"

#define FIELD_SESSION_SHIFT 40u

struct field_site;

/* A number for a field that a class being rewritten names so; `loader` tells class loaders apart;
 * `unique`: this number is for no other class.  0: none are left. */
uint32_t field_site_number(uint64_t loader, bool unique, const char *owner, const char *name,
                           const char *descriptor, bool is_static);

/* Called by a probe of a store: the field's entry in the session's dictionary; 0: not known.
 * `holder` is NULL for a static field. */
uint64_t field_of_number(struct session *session, JNIEnv *jni, uint32_t number, jobject holder);

#endif
