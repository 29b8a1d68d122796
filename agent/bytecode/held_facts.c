/* SPDX-License-Identifier: Apache-2.0 */
/* A list of facts, in the order in which they were found. */
#include "agent/bytecode/held_facts.h"

#include <stdlib.h>
#include <string.h>

#include "agent/records/global_stream.h"

#define HELD_BYTES ((size_t) 4 << 20)
enum { CLASS_NAME, METHOD_NAME, DESCRIPTOR, REASON, TEXTS };

struct held_fact {
    struct held_fact *next;
    uint64_t missing;
    const char *texts[TEXTS];
    char bytes[];
};

static struct {
    pthread_mutex_t lock;
    bool holds;
    size_t bytes;
    struct held_fact *first, **last;
} held = {.lock = PTHREAD_MUTEX_INITIALIZER};

void held_facts_begin(void)
{
    held_facts_end(NULL);
    pthread_mutex_lock(&held.lock);
    held.holds = true;
    held.last = &held.first;
    pthread_mutex_unlock(&held.lock);
}

static struct held_fact *make_fact(const char *const texts[TEXTS], size_t *size)
{
    *size = sizeof(struct held_fact);
    for (size_t i = 0; i < TEXTS; i++)
        *size += strlen(texts[i]) + 1;
    struct held_fact *fact = held.bytes + *size <= HELD_BYTES ? calloc(1, *size) : NULL;
    char *at = fact != NULL ? fact->bytes : NULL;
    for (size_t i = 0; fact != NULL && i < TEXTS; i++) {
        fact->texts[i] = strcpy(at, texts[i]);
        at += strlen(at) + 1;
    }
    return fact;
}

bool held_facts_add(const char *class_name, const char *method_name, const char *descriptor,
                    const char *reason, uint64_t missing)
{
    const char *const texts[TEXTS] = {class_name, method_name, descriptor, reason};
    size_t size = 0;
    pthread_mutex_lock(&held.lock);
    struct held_fact *fact = held.holds ? make_fact(texts, &size) : NULL;
    if (fact != NULL) {
        fact->missing = missing;
        held.bytes += size;
        *held.last = fact;
        held.last = &fact->next;
    }
    pthread_mutex_unlock(&held.lock);
    return fact != NULL;
}

void held_facts_end(struct session *session)
{
    pthread_mutex_lock(&held.lock);
    struct held_fact *fact = held.first;
    held.first = NULL;
    held.holds = false;
    held.bytes = 0;
    pthread_mutex_unlock(&held.lock);
    while (fact != NULL) {
        struct held_fact *next = fact->next;
        if (session != NULL)
            fact_not_probed(session, fact->texts[CLASS_NAME], fact->texts[METHOD_NAME],
                            fact->texts[DESCRIPTOR], fact->texts[REASON], fact->missing);
        free(fact);
        fact = next;
    }
}
