/* SPDX-License-Identifier: Apache-2.0 */
/* Classes in eden.
 *
 * A header names its class by a word, from which the address of the JVM's structure follows. What
 * the structure says is read anew in each walk, since a collection may unload a class and another
 * one may get its address. A structure that was never seen is read through the kernel, and must
 * agree with its mirror, which refers to it.
 *
 * The class's number in the trace: the agent has a weak reference to each class that was loaded
 * (named_table.h), whose mirror refers to the structure. Classes of arrays are made without an
 * event; they are named here, by the JVM's symbol, and belong to the loader of their elements'
 * class. So are classes of the JDK whose event the JVM left out. */
#include "agent/events/eden_rows.h"

#include <stdlib.h>
#include <string.h>

#include "agent/base/java_versions.h"
#include "agent/base/tracer.h"
#include "agent/hotspot/peek.h"
#include "agent/hotspot/slots.h"
#include "agent/hotspot/vm_structs.h"
#include "agent/records/classes.h"
#include "agent/records/global_stream.h"
#include "agent/records/named_table.h"
#include "format/core/grow.h"
#include "format/core/hash.h"

#define ROWS_LEAST (UINT64_C(1) << 12)
#define ROWS_MOST (UINT64_C(1) << 24)
#define NAME_MOST 65536u
/* The JVM's description of sizes (Klass::_layout_helper): of an instance its bytes and a bit; of an
 * array, which is negative, the logarithm of an element's size and where elements begin. */
#define INSTANCE_BITS 7u
#define ELEMENT_SHIFT_MASK 63u
#define ELEMENTS_AT_SHIFT 16
#define ELEMENTS_AT_MASK 255u
#define OF_OBJECTS_BIT (UINT32_C(1) << 30) /* not set: elements are references */

/* A class's structure and what is known of it. */
struct eden_class {
    uintptr_t class;  /* 0: free */
    uint64_t index;   /* in named_classes; 0: it was named here */
    uintptr_t symbol; /* then: its name and, of an array, its elements' class, */
    uintptr_t bottom;
    uint64_t bottom_number, number; /* and the numbers of both */
};

struct eden_rows eden_rows;

static struct {
    struct eden_class *classes;
    uint64_t class_room, class_count;
    jweak *bound; /* by index in named_classes: the mirror that is in `classes` */
    size_t bound_room;
    uint64_t bound_walk; /* the last one that took new classes */
} state;

/* ---- rows ---- */

static bool rows_make(uint64_t room)
{
    struct eden_row *old = eden_rows.at;
    uint64_t old_room = eden_rows.room;
    struct eden_row *rows = room <= ROWS_MOST ? calloc(room, sizeof *rows) : NULL;
    if (rows == NULL)
        return false;
    eden_rows.at = rows;
    eden_rows.room = room;
    eden_rows.shift = (unsigned) __builtin_clzll(room) + 1;
    eden_rows.count = 0;
    for (uint64_t i = 0; i < old_room; i++) {
        if (old[i].walk != eden_rows.walk)
            continue;
        uint64_t at = eden_row_place(old[i].word);
        while (rows[at].walk != 0)
            at = (at + 1) & (room - 1);
        rows[at] = old[i];
        eden_rows.count++;
    }
    free(old);
    return true;
}

void eden_rows_begin(void)
{
    if (state.classes != NULL)
        memset(state.classes, 0, state.class_room * sizeof *state.classes);
    if (state.bound != NULL)
        memset(state.bound, 0, state.bound_room * sizeof(jweak));
    state.class_count = 0;
    state.bound_walk = 0;
}

bool eden_rows_clear(void)
{
    eden_rows.walk++;
    return eden_rows.room != 0 || rows_make(ROWS_LEAST);
}

/* Since JDK 28 arrays of objects have a structure for each kind of elements (references, values),
 * all with one mirror, which refers to one that no object has. Returns whether `main` is that one.
 */
static bool is_kind_of_array(uintptr_t class, uintptr_t main)
{
    int32_t layout;
    uintptr_t bottom, of_main;
    return tracer.java_major >= JAVA_VALUE_CLASSES && main % sizeof(uint64_t) == 0 &&
           peek(class + eden_layout.class_layout, &layout, sizeof layout) && layout < 0 &&
           ((uint32_t) layout & OF_OBJECTS_BIT) == 0 &&
           peek(class + eden_layout.array_bottom, &bottom, sizeof bottom) && bottom != 0 &&
           peek(main + eden_layout.array_bottom, &of_main, sizeof of_main) && of_main == bottom;
}

/* The structure of a class that the kernel can read, and whose mirror refers to it. */
static bool is_class(uintptr_t class)
{
    uintptr_t handle, mirror, back;
    return class % sizeof(uint64_t) == 0 &&
           peek(class + eden_layout.class_mirror, &handle, sizeof handle) && handle != 0 &&
           peek(handle, &mirror, sizeof mirror) && mirror != 0 &&
           peek(mirror + eden_layout.mirror_class, &back, sizeof back) &&
           (back == class || is_kind_of_array(class, back));
}

/* Copies the class's name, which ends with a zero; `name` has room for NAME_MOST. */
static void name_of(uintptr_t class, char *name)
{
    uint16_t length;
    uintptr_t symbol = vm_word(class, eden_layout.class_name);
    memcpy(&length, (const void *) (symbol + eden_layout.symbol_length), sizeof length);
    memcpy(name, (const void *) (symbol + eden_layout.symbol_body), length);
    name[length] = '\0';
}

static bool is_named(uintptr_t class, const char *wanted)
{
    uint16_t length;
    uintptr_t symbol = vm_word(class, eden_layout.class_name);
    memcpy(&length, (const void *) (symbol + eden_layout.symbol_length), sizeof length);
    return length == strlen(wanted) &&
           memcmp((const void *) (symbol + eden_layout.symbol_body), wanted, length) == 0;
}

/* What closes buffers and regions. Older JVMs use int[], and Object for what is too small. */
static enum eden_row_fills fills_gaps(uintptr_t class)
{
    if (eden_layout.fillers_are_named)
        return is_named(class, "jdk/internal/vm/FillerObject") ||
                       is_named(class, "[Ljdk/internal/vm/FillerElement;") ||
                       is_named(class, "[Ljdk/internal/vm/FillerArray;") ||
                       is_named(class, "Ljdk/internal/vm/FillerArray;")
                   ? ROW_FILLER
                   : ROW_OF_PROGRAM;
    return is_named(class, "[I") || (!header_layout.narrow && is_named(class, "java/lang/Object"))
               ? ROW_PERHAPS_FILLER
               : ROW_OF_PROGRAM;
}

static bool take_layout(struct eden_row *row)
{
    int32_t layout = (int32_t) vm_half(row->class, eden_layout.class_layout);
    if (layout == 0)
        return false;
    if (layout < 0) {
        row->kind = ROW_ARRAY;
        row->element_shift = (uint8_t) ((uint32_t) layout & ELEMENT_SHIFT_MASK);
        row->fixed_bytes = (uint32_t) layout >> ELEMENTS_AT_SHIFT & ELEMENTS_AT_MASK;
        row->length_mask = UINT32_MAX;
        return row->element_shift < ELEMENT_SHIFTS;
    }
    row->fixed_bytes = (uint32_t) layout & ~(uint32_t) INSTANCE_BITS;
    row->kind = row->class == eden_layout.class_class                ? ROW_MIRROR
                : is_named(row->class, "jdk/internal/vm/StackChunk") ? ROW_CHUNK
                                                                     : ROW_FIXED;
    return row->fixed_bytes % header_layout.alignment == 0 &&
           (row->kind != ROW_CHUNK || eden_layout.chunk_words != 0);
}

/* Fills the row with what the class is now. `is_known`: an earlier walk has seen it. */
static bool row_meet(struct eden_row *row, uint64_t word, bool is_known)
{
    uintptr_t class =
        header_layout.narrow ? eden_layout.class_base + (word << eden_layout.class_shift) : word;
    if (!is_known && !is_class(class))
        return false;
    *row = (struct eden_row){.word = word, .walk = eden_rows.walk, .class = class};
    row->fills = fills_gaps(class);
    return take_layout(row);
}

struct eden_row *eden_row_of(uint64_t word)
{
    if (2 * (eden_rows.count + 1) > eden_rows.room && !rows_make(2 * eden_rows.room))
        return NULL;
    uint64_t at = eden_row_place(word);
    while (eden_rows.at[at].walk != 0 && eden_rows.at[at].word != word)
        at = (at + 1) & (eden_rows.room - 1);
    struct eden_row *row = &eden_rows.at[at];
    if (row->walk == eden_rows.walk)
        return row;
    bool is_known = row->walk != 0;
    if (!row_meet(row, word, is_known)) {
        row->walk = is_known ? row->walk : 0;
        return NULL;
    }
    eden_rows.count += !is_known;
    return row;
}

uint64_t eden_variable_bytes(const struct eden_row *row, uintptr_t object)
{
    uint32_t words;
    if (row->kind == ROW_MIRROR) {
        memcpy(&words, (const void *) (object + eden_layout.mirror_words), sizeof words);
        return words * (uint64_t) sizeof(uint64_t);
    }
    memcpy(&words, (const void *) (object + eden_layout.chunk_words), sizeof words);
    /* behind the stack, a bit for each reference that could be in it */
    uint64_t bits = (uint64_t) words << (3 - header_layout.references_shift);
    return eden_rounded(row->fixed_bytes + (words + (bits + 63) / 64) * sizeof(uint64_t));
}

void eden_rows_each(void (*visit)(void *user, struct eden_row *row), void *user)
{
    for (uint64_t i = 0; i < eden_rows.room; i++)
        if (eden_rows.at[i].walk == eden_rows.walk)
            visit(user, &eden_rows.at[i]);
}

/* ---- numbers ---- */

/* Returns the place of the class's structure, or a free one. */
static struct eden_class *class_place(uintptr_t class)
{
    uint64_t at = step_hash(class) & (state.class_room - 1);
    while (state.classes[at].class != 0 && state.classes[at].class != class)
        at = (at + 1) & (state.class_room - 1);
    return &state.classes[at];
}

static struct eden_class *class_add(uintptr_t class)
{
    if (2 * (state.class_count + 1) > state.class_room) {
        struct eden_class *old = state.classes;
        uint64_t old_room = state.class_room;
        uint64_t room = old_room != 0 ? 2 * old_room : ROWS_LEAST;
        struct eden_class *classes = calloc(room, sizeof *classes);
        if (classes == NULL)
            return NULL;
        state.classes = classes;
        state.class_room = room;
        for (uint64_t i = 0; i < old_room; i++)
            if (old[i].class != 0)
                *class_place(old[i].class) = old[i];
        free(old);
    }
    struct eden_class *place = class_place(class);
    state.class_count += place->class == 0;
    *place = (struct eden_class){.class = class};
    return place;
}

/* Returns the structure that the entry's mirror refers to; 0: it is gone, or a primitive type. */
static uintptr_t class_of_mirror(jweak mirror)
{
    uintptr_t object = mirror != NULL ? slot_word(mirror) : 0;
    return object != 0 ? vm_word(object, eden_layout.mirror_class) : 0;
}

/* Takes the classes that were loaded since the last search, once in a walk: the program stands
 * still. */
static void bind_new(void)
{
    uint64_t count = named_classes.count;
    size_t had = state.bound_room;
    if (state.bound_walk == eden_rows.walk || !STEP_MAKE_ROOM(state.bound, state.bound_room, count))
        return;
    state.bound_walk = eden_rows.walk;
    memset(state.bound + had, 0, (state.bound_room - had) * sizeof(jweak));
    for (uint64_t index = 1; index < count; index++) {
        struct named_object *named = named_at(&named_classes, index);
        jweak mirror = named != NULL ? atomic_load(&named->mirror) : NULL;
        if (mirror == state.bound[index])
            continue;
        uintptr_t class = class_of_mirror(mirror);
        struct eden_class *known = class != 0 ? class_add(class) : NULL;
        if (known != NULL)
            known->index = index;
        state.bound[index] = mirror;
    }
}

static uint64_t number_of_class(struct session *session, uintptr_t class);

/* Returns the number of a class by what was found earlier, if that still is so; else 0. What is
 * found for the elements' class may move all entries. */
static uint64_t number_known(struct session *session, uintptr_t class)
{
    struct eden_class known = {0};
    if (state.class_room != 0)
        known = *class_place(class);
    if (known.class == 0)
        return 0;
    if (known.index != 0) {
        const struct named_object *named = named_at(&named_classes, known.index);
        if (class_of_mirror(atomic_load(&named->mirror)) != class)
            return 0;
        return class_number_of_tag(session, TAG_CLASS | (jlong) known.index);
    }
    bool is_same =
        vm_word(class, eden_layout.class_name) == known.symbol &&
        (known.bottom == 0 || (vm_word(class, eden_layout.array_bottom) == known.bottom &&
                               number_of_class(session, known.bottom) == known.bottom_number));
    return is_same ? known.number : 0;
}

/* Defines a class that no event has announced, by the JVM's symbol. */
static uint64_t number_by_symbol(struct session *session, struct eden_class *own, uint64_t loader)
{
    static char modified[NAME_MOST], name[NAME_MOST];
    own->symbol = vm_word(own->class, eden_layout.class_name);
    name_of(own->class, modified);
    char *hidden = strrchr(modified, '+'); /* JVMTI has a full stop there */
    if (hidden != NULL && strncmp(hidden, "+0x", 3) == 0)
        *hidden = '.';
    own->number = class_define(session, name, utf8_of_modified(modified, name), loader);
    struct eden_class *place = own->number != 0 ? class_add(own->class) : NULL;
    if (place != NULL)
        *place = *own;
    return own->number;
}

/* The JVM gives classes of that package to its own loaders alone. */
static bool is_of_java(uintptr_t class)
{
    static const char package[] = "java/";
    uintptr_t symbol = vm_word(class, eden_layout.class_name);
    uint16_t length;
    memcpy(&length, (const void *) (symbol + eden_layout.symbol_length), sizeof length);
    return length >= sizeof package && memcmp((const void *) (symbol + eden_layout.symbol_body),
                                              package, sizeof package - 1) == 0;
}

/* Names an array's class, or one of the JDK's that was loaded without an event: on JDK 21 those
 * that a virtual thread loads while it changes its carrier (JDK-8330146). */
static uint64_t number_unannounced(struct session *session, uintptr_t class)
{
    int32_t layout = (int32_t) vm_half(class, eden_layout.class_layout);
    struct eden_class array = {.class = class};
    uint64_t loader = 0;
    if (layout >= 0)
        return is_of_java(class) ? number_by_symbol(session, &array, 0) : 0;
    if (((uint32_t) layout & OF_OBJECTS_BIT) == 0) {
        array.bottom = vm_word(class, eden_layout.array_bottom);
        array.bottom_number = number_of_class(session, array.bottom);
        if (array.bottom_number == 0)
            return 0;
        const struct eden_class *bottom = class_place(array.bottom);
        if (bottom->index != 0)
            loader = named_at(&named_classes, bottom->index)->loader;
    }
    return number_by_symbol(session, &array, loader);
}

static uint64_t number_of_class(struct session *session, uintptr_t class)
{
    uint64_t number = number_known(session, class);
    if (number != 0)
        return number;
    bind_new();
    number = number_known(session, class);
    return number != 0 ? number : number_unannounced(session, class);
}

uint64_t eden_row_class(struct session *session, const struct eden_row *row)
{
    uintptr_t mirror = vm_word(vm_word(row->class, eden_layout.class_mirror), 0);
    uintptr_t main = vm_word(mirror, eden_layout.mirror_class);
    return number_of_class(session, main != 0 ? main : row->class);
}
