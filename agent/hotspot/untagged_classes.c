/* SPDX-License-Identifier: Apache-2.0 */
/* Table of untagged classes: chains by the hash of their signatures. */
#include "agent/hotspot/untagged_classes.h"

#include <stdlib.h>

#include "agent/base/hash_numbers.h"

#define CHAINS 4096u

struct untagged_class {
    struct untagged_class *next;
    uint64_t number;
    uint64_t hash;
    jweak mirror; /* not owned */
};

static struct untagged_class *chains[CHAINS];

bool untagged_class_add(const char *signature, uint64_t number, jweak mirror)
{
    struct untagged_class *class = malloc(sizeof *class);
    if (class == NULL)
        return false;
    uint64_t hash = text_hash(signature);
    *class = (struct untagged_class){chains[hash % CHAINS], number, hash, mirror};
    chains[hash % CHAINS] = class;
    return true;
}

static void take_out(struct untagged_class **link)
{
    struct untagged_class *class = *link;
    *link = class->next;
    free(class);
}

/* Also removes classes of this signature that were unloaded meanwhile. */
uint64_t untagged_class_take(JNIEnv *jni, const char *signature, jclass mirror)
{
    uint64_t hash = text_hash(signature);
    struct untagged_class **link = &chains[hash % CHAINS];
    while (*link != NULL) {
        struct untagged_class *class = *link;
        uint64_t number = class->number;
        if (class->hash == hash && (*jni)->IsSameObject(jni, class->mirror, mirror)) {
            take_out(link);
            return number;
        }
        if (class->hash == hash && (*jni)->IsSameObject(jni, class->mirror, NULL))
            take_out(link);
        else
            link = &class->next;
    }
    return 0;
}

void untagged_classes_drop(bool (*is_gone)(uint64_t number))
{
    for (size_t i = 0; i < CHAINS; i++)
        for (struct untagged_class **link = &chains[i]; *link != NULL;)
            if (is_gone((*link)->number))
                take_out(link);
            else
                link = &(*link)->next;
}
