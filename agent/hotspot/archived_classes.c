/* SPDX-License-Identifier: Apache-2.0 */
/* Reads class names from the archive itself. The classes of lambda expressions have no names of
 * their own; these are read from the JDK's file lib/classlist, from which its archive was made.
 * Only hashes of names are stored; two names with one hash would cost no more than an identity
 * hash. */
#include "agent/hotspot/archived_classes.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/base/hash_numbers.h"
#include "agent/base/internals.h"
#include "agent/base/java_versions.h"
#include "agent/base/jvm_classes.h"
#include "agent/base/tracer.h"
#include "agent/hotspot/hash_state.h"
#include "agent/hotspot/vm_structs.h"
#include "agent/rewriter/class_file.h"
#include "capture/apart.h"

/* ---- the archive in memory ----
 * The JVM has its archive mapped, and all its classes are structures in one region of it. Each
 * begins with the address of one of the archive's few virtual method tables for classes, by which
 * it is found. The region has no list of classes that debuggers know. */

#define REGIONS 3u
/* Ordinary classes, and those of class loaders, mirrors and references. */
#define KINDS 4u
#define TABLES_LIMIT 32u

struct range {
    uintptr_t base, end;
};

static bool is_inside(const struct range *range, uintptr_t at, size_t size)
{
    return at >= range->base && at < range->end && size <= range->end - at;
}

/* Finds the region that contains class Object. */
static bool find_region(const struct vm_archive *vm, const struct range *all, struct range *region)
{
    for (size_t i = 0; i < REGIONS; i++) {
        uintptr_t at = vm->header + vm->header_regions + i * vm->region_size;
        region->base = vm_word(at, vm->region_base);
        region->end = region->base + vm_word(at, vm->region_used);
        if (is_inside(region, vm->object_class, sizeof(uintptr_t)) && region->base % 8 == 0 &&
            is_inside(all, region->base, region->end - region->base))
            return true;
    }
    return false;
}

/* Converts an address as the archive stores it: absolute, or an offset from the base, in bytes or
 * (JDK 27, a 32-bit number) in words. */
static uintptr_t absolute(const struct range *all, uintptr_t at, bool narrow)
{
    if (narrow)
        return all->base + (uint32_t) at * sizeof at;
    return at < all->base ? all->base + at : at;
}

/* The tables are in the order of the kinds, each after its size; the first is that of Object. */
static bool find_tables(const struct vm_archive *vm, const struct range *all, bool narrow,
                        uintptr_t tables[KINDS])
{
    uintptr_t list = absolute(all, vm->vtables, narrow), wanted = vm_word(vm->object_class, 0);
    for (size_t i = 0; i < TABLES_LIMIT; i++) {
        uintptr_t entry = list + i * sizeof wanted;
        if (entry % sizeof entry != 0 || !is_inside(all, entry, KINDS * sizeof wanted))
            return false;
        for (size_t kind = 0; kind < KINDS; kind++)
            tables[kind] =
                absolute(all, vm_word(entry, kind * sizeof wanted), narrow) + sizeof wanted;
        if (tables[0] == wanted)
            return true;
    }
    return false;
}

static void report_object(const struct vm_archive *vm, const struct range *all, uintptr_t class,
                          void (*found)(const char *name, size_t length))
{
    uintptr_t symbol = vm_word(class, vm->class_name);
    uint16_t length;
    if (!is_inside(all, symbol, vm->symbol_body))
        return;
    memcpy(&length, (const char *) symbol + vm->symbol_length, sizeof length);
    if (is_inside(all, symbol, vm->symbol_body + length))
        found((const char *) symbol + vm->symbol_body, length);
}

/* Calls `found` with the name of each class, as in class files (without a terminating 0). This
 * excludes arrays and includes hidden classes. Does nothing if the JVM uses no archive or has an
 * unexpected layout. */
static void archive_scan(void (*found)(const char *name, size_t length))
{
    struct vm_archive vm;
    struct range region;
    uintptr_t tables[KINDS];
    if (!vm_archive_get(&vm))
        return;
    struct range all = {vm.base, vm.top};
    if (!find_region(&vm, &all, &region) ||
        (!find_tables(&vm, &all, false, tables) && !find_tables(&vm, &all, true, tables)))
        return;
    size_t head = vm.class_name + sizeof(uintptr_t);
    for (uintptr_t at = region.base; is_inside(&region, at, head); at += sizeof(uintptr_t)) {
        uintptr_t word = vm_word(at, 0);
        if (word == tables[0] || word == tables[1] || word == tables[2] || word == tables[3])
            report_object(&vm, &all, at, found);
    }
}

#define TABLE_BITS 16u
#define TABLE_SIZE (1u << TABLE_BITS)
#define TABLE_FULL (TABLE_SIZE / 2)
/* Words of a line that describes a lambda expression's class. */
#define LAMBDA_WORDS 9
#define LAMBDA_CALLEE 6

/* A name's hash, never 0. Its low bit is set while the class is being loaded, perhaps not from the
 * archive. */
static _Atomic uint64_t table[TABLE_SIZE];
static size_t table_count;
static _Atomic int loading;

static struct class_text archived_text_at(const char *bytes, size_t length)
{
    return (struct class_text){(const uint8_t *) bytes, length};
}

static uint64_t mix(uint64_t hash, struct class_text text)
{
    return text_hash_more(hash, (const char *) text.bytes, text.length);
}

static uint64_t archived_finish(uint64_t hash)
{
    return (hash | UINT64_C(1) << 63) & ~UINT64_C(1);
}

static uint64_t hash_class(const char *name, size_t length)
{
    return archived_finish(mix(TEXT_HASH_START, archived_text_at(name, length)));
}

/* Hashes a lambda expression: the class that contains it, and owner, name and descriptor of its
 * method. */
static uint64_t hash_lambda(struct class_text class, const struct class_text callee[3])
{
    uint64_t hash = mix(TEXT_HASH_START, class);
    for (size_t i = 0; i < 3; i++)
        hash = mix(mix(hash, archived_text_at(" ", 1)), callee[i]);
    return archived_finish(hash);
}

/* Returns the name's entry, or the free one where it belongs. */
static _Atomic uint64_t *archived_place_of(uint64_t hash)
{
    size_t slot = (size_t) (hash >> 20) % TABLE_SIZE;
    for (;; slot = (slot + 1) % TABLE_SIZE) {
        uint64_t entry = atomic_load_explicit(&table[slot], memory_order_relaxed);
        if (entry == 0 || (entry & ~UINT64_C(1)) == hash)
            return &table[slot];
    }
}

static void archived_add(uint64_t hash)
{
    _Atomic uint64_t *place = archived_place_of(hash);
    if (table_count == TABLE_FULL || atomic_load(place) != 0)
        return;
    atomic_store(place, hash);
    table_count++;
}

/* "@lambda-proxy CALLER INTERFACE-METHOD TYPE TYPE KIND OWNER METHOD DESCRIPTOR TYPE" */
static void add_line(char *line)
{
    char *rest = NULL;
    struct class_text words[LAMBDA_WORDS];
    for (size_t i = 0; i < LAMBDA_WORDS; i++) {
        const char *word = strtok_r(i == 0 ? line : NULL, " \t\r\n", &rest);
        words[i] = archived_text_at(word != NULL ? word : "", word != NULL ? strlen(word) : 0);
    }
    if (text_is(words[0], "@lambda-proxy"))
        archived_add(hash_lambda(words[1], &words[LAMBDA_CALLEE]));
}

static void archived_read_file(void *data)
{
    char *line = NULL;
    size_t room = 0;
    FILE *file = fopen(data, "re");
    while (file != NULL && getline(&line, &room, file) > 0)
        add_line(line);
    if (file != NULL)
        fclose(file);
    free(line);
}

static void archived_add_class(const char *name, size_t length)
{
    archived_add(hash_class(name, length));
}

/* Every archive contains these, and they cover all kinds of classes. */
static bool has_known(void)
{
    static const char *const names[] = {"java/lang/Object", "java/lang/String", "java/lang/Class",
                                        "java/lang/ClassLoader", "java/lang/ref/WeakReference"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (atomic_load(archived_place_of(hash_class(names[i], strlen(names[i])))) == 0)
            return false;
    return true;
}

void archived_classes_read(void)
{
    char path[4096];
    if (!hash_state_is_known() || !internal_is_allowed(INTERNAL_ARCHIVE))
        return;
    if (tracer.java_major >= JAVA_TAGS_BY_HASH && tracer.java_major < JAVA_LINKS_WITH_HASH) {
        internal_settled(INTERNAL_ARCHIVE, "this JDK's archive has hashes of some classes only");
        return;
    }
    if (table_count == 0)
        archive_scan(archived_add_class);
    if (table_count != 0 && !has_known())
        table_count = 0;
    internal_settled(INTERNAL_ARCHIVE,
                     table_count != 0 ? NULL : "the JVM uses none, or does not publish it");
    static bool is_read;
    if (is_read)
        return;
    is_read = true;
    char *home = table_count != 0 ? jvm_property("java.home") : NULL;
    if (home == NULL)
        return;
    int length = snprintf(path, sizeof path, "%s/lib/classlist", home);
    if (length > 0 && (size_t) length < sizeof path)
        apart_run(archived_read_file, path);
    jvm_free(home);
}

/* Later JDKs do not load these classes from the archive if there is a class file hook: the archive
 * has other code for them than the class file. */
static bool is_regenerated(const char *name)
{
    static const char package[] = "java/lang/invoke/", end[] = "$Holder";
    size_t length = strlen(name);
    return length > sizeof end && strncmp(name, package, sizeof package - 1) == 0 &&
           strcmp(name + length - (sizeof end - 1), end) == 0;
}

void archived_class_loads(const char *name, bool changed)
{
    static _Atomic bool any_changed;
    if (table_count == 0 || (!changed && !atomic_load(&any_changed) && !is_regenerated(name)))
        return;
    uint64_t hash = hash_class(name, strlen(name));
    _Atomic uint64_t *place = archived_place_of(hash);
    if ((atomic_load(place) & ~UINT64_C(1)) != hash)
        return;
    if (changed)
        atomic_store(&any_changed, true);
    if ((atomic_fetch_or(place, 1) & 1) == 0)
        atomic_fetch_add(&loading, 1);
}

static bool is_loading(jclass class)
{
    char *signature = class_signature(class);
    size_t length = signature != NULL ? strlen(signature) : 0;
    bool changed = false;
    if (length > 2) {
        uint64_t hash = hash_class(signature + 1, length - 2);
        changed = (atomic_fetch_and(archived_place_of(hash), ~UINT64_C(1)) & 1) != 0;
    }
    jvm_free(signature);
    return changed;
}

/* The archive has mirrors with an identity hash. A class that gets probes is not taken from it, so
 * its mirror is new and would draw a hash from the program's generator when the program asks for
 * one. The agent draws it here, from its own state, and all later hashes of the program are those
 * of the untraced run. */
void archived_class_loaded(jclass class)
{
    jint hash;
    if (atomic_load_explicit(&loading, memory_order_relaxed) == 0 || !is_loading(class))
        return;
    atomic_fetch_sub(&loading, 1);
    hash_state_enter();
    (*tracer.jvmti)->GetObjectHashCode(tracer.jvmti, class, &hash);
    hash_state_leave();
}

static bool is_of_lambda(void *context, const struct class_callee *callee)
{
    const struct class_text *caller = context;
    const struct class_text words[] = {callee->owner, callee->name, callee->descriptor};
    return atomic_load(archived_place_of(hash_lambda(*caller, words))) != 0;
}

bool archived_class_has_lambda(jclass class, const uint8_t *bytes, size_t length)
{
    char *signature = table_count != 0 ? class_signature(class) : NULL;
    if (signature == NULL)
        return false;
    size_t end = strlen(signature);
    struct class_text caller = archived_text_at(signature + 1, end > 2 ? end - 2 : 0);
    bool has = class_has_callee(bytes, length, is_of_lambda, &caller);
    jvm_free(signature);
    return has;
}
