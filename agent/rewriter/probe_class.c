/* SPDX-License-Identifier: Apache-2.0 */
/* Generates the class file of the probes: a final class of static native methods, and some in Java.
 * These are link(), through which natives are registered (java_probes.c), keep(), and, if
 * Math.tan() is replaced (leaf_calls.c), those of LEAF_PROBES. */
#include <stdlib.h>

#include "agent/rewriter/class_file.h"

#define CLASS_VERSION 52
#define NEST_VERSION 55       /* private methods of the nest's classes are called virtually */
#define ACCESS_CLASS 0x1031   /* public final super synthetic */
#define ACCESS_BASE 0x1421    /* public abstract super synthetic */
#define ACCESS_FIELD 0x1019   /* public static final synthetic */
#define ACCESS_SHOW 0x1001    /* public synthetic */
#define ACCESS_TO_COME 0x1401 /* public abstract synthetic */
#define ACCESS_METHOD 0x1109  /* public static native synthetic */
#define ACCESS_JAVA 0x1009    /* public static synthetic */
#define NO_CONSTANTS 1        /* the count in a class file without any */

static const struct {
    enum probe probe;
    const char *aside;
    unsigned way;
} leaf_probes[LEAF_PROBE_COUNT] = {
#define LEAF_PROBE_ROW(name, aside) {PROBE_##name, aside, PROBES_LEAF},
    LEAF_PROBES(LEAF_PROBE_ROW)
#undef LEAF_PROBE_ROW
#define SHOW_PROBE_ROW(name, aside) {PROBE_##name, aside, PROBES_SHOW},
        SHOW_PROBES(SHOW_PROBE_ROW)
#undef SHOW_PROBE_ROW
#define SHOW_NEW_ROW(name, aside) {PROBE_##name, aside, PROBES_SHOW_NEW},
            SHOW_NEW_PROBES(SHOW_NEW_ROW)
#undef SHOW_NEW_ROW
};

/* Constants (`added`) and methods (`output`) are written in parallel. */
struct probe_class {
    struct class_file file;
    uint32_t method_count;
};

static uint32_t add_member(struct probe_class *class, uint32_t tag, const char *owner,
                           const char *name, const char *descriptor)
{
    return pool_add_member(&class->file, tag, pool_add_class(&class->file, owner), name,
                           descriptor);
}

static uint32_t add_method(struct probe_class *class, const char *owner, const char *name,
                           const char *descriptor)
{
    return add_member(class, CONSTANT_METHOD, owner, name, descriptor);
}

static uint32_t add_long(struct probe_class *class, uint64_t value)
{
    uint32_t index = pool_add(&class->file, CONSTANT_LONG);
    put_u4(&class->file.added, (uint32_t) (value >> 32));
    put_u4(&class->file.added, (uint32_t) value);
    class->file.added_count++; /* it counts twice */
    return index;
}

/* Writes a method's head, before its attributes. */
static void probe_class_put_head(struct probe_class *class, uint32_t access, const char *name,
                                 const char *descriptor, uint32_t attributes)
{
    struct class_output *out = &class->file.output;
    put_u2(out, access);
    put_u2(out, pool_add_text(&class->file, name));
    put_u2(out, pool_add_text(&class->file, descriptor));
    put_u2(out, attributes);
    class->method_count++;
}

/* Code without handlers. Every frame has an empty stack. */
struct java_code {
    const uint8_t *bytes;
    uint32_t length, stack, variables;
    uint32_t frames[2]; /* their places; 0: none */
};

static uint32_t count_frames(const struct java_code *code)
{
    return code->frames[0] == 0 ? 0 : code->frames[1] == 0 ? 1 : 2;
}

static void probe_class_put_frames(struct probe_class *class, const struct java_code *code)
{
    struct class_output *out = &class->file.output;
    uint32_t count = count_frames(code);
    put_u2(out, count != 0);
    if (count == 0)
        return;
    put_u2(out, pool_frames_name(&class->file));
    put_u4(out, 2 + 3 * count);
    put_u2(out, count);
    for (uint32_t i = 0; i < count; i++) {
        put_u1(out, 251); /* same_frame_extended */
        put_u2(out, i == 0 ? code->frames[0] : code->frames[i] - code->frames[i - 1] - 1);
    }
}

static void put_code(struct probe_class *class, uint32_t access, const char *name,
                     const char *descriptor, const struct java_code *code)
{
    uint32_t frames = count_frames(code);
    struct class_output *out = &class->file.output;
    probe_class_put_head(class, access, name, descriptor, 1);
    put_u2(out, pool_add_text(&class->file, "Code"));
    put_u4(out, 12 + code->length + (frames != 0 ? 8 + 3 * frames : 0));
    put_u2(out, code->stack);
    put_u2(out, code->variables);
    put_u4(out, code->length);
    put_bytes(out, code->bytes, code->length);
    put_u2(out, 0); /* handlers */
    probe_class_put_frames(class, code);
}

static void put_java(struct probe_class *class, const char *name, const char *descriptor,
                     const struct java_code *code)
{
    put_code(class, ACCESS_JAVA, name, descriptor, code);
}

/* static void link(String name) { System.mapLibraryName(name); } */
static void put_link(struct probe_class *class)
{
    uint32_t callee = add_method(class, "java/lang/System", "mapLibraryName",
                                 "(Ljava/lang/String;)Ljava/lang/String;");
    uint8_t code[] = {0x2a, 0xb8, 0, 0, 0x57, 0xb1};
    store_u2(code + 2, callee);
    put_java(class, "link", "(Ljava/lang/String;)V",
             &(struct java_code){.bytes = code, .length = sizeof code, .stack = 1, .variables = 1});
}

#define KEEP_NOPS 400 /* C2 inlines hot methods up to 325 bytes, FreqInlineSize */

/* static void keep(Object object) {}, made too large to be inlined by a jump over nops. C2 removes
 * a StringBuilder if it knows all its uses, and makes the string itself without any constructor. A
 * call that is not inlined is a use that it does not know. */
static void put_keep(struct probe_class *class)
{
    uint8_t code[3 + KEEP_NOPS + 1] = {0xa7};
    store_u2(code + 1, sizeof code - 1);
    code[sizeof code - 1] = 0xb1;
    put_java(class, "keep", "(Ljava/lang/Object;)V",
             &(struct java_code){code, sizeof code, 0, 1, {3, sizeof code - 1}});
}

/* static void copied(Object from, int first, Object to, int at, int n) {
 *     if (to instanceof Object[]) storeRange(from, first, to, at, n); } */
static void put_copied(struct probe_class *class)
{
    enum { ARRAY = 2, JUMP = 5, RANGE = 14, RETURN = 16 };
    uint8_t code[] = {0x2c, 0xc1, 0,    0,    0x99, 0, 0, 0x2a, 0x1b,
                      0x2c, 0x1d, 0x15, 0x04, 0xb8, 0, 0, 0xb1};
    store_u2(code + ARRAY, pool_add_class(&class->file, "[Ljava/lang/Object;"));
    store_u2(code + JUMP, RETURN - (JUMP - 1));
    store_u2(code + RANGE, add_method(class, PROBE_CLASS, probe_methods[PROBE_STORE_RANGE].name,
                                      probe_methods[PROBE_STORE_RANGE].descriptor));
    put_java(class, "copied", probe_methods[PROBE_STORE_RANGE].descriptor,
             &(struct java_code){code, sizeof code, 5, 5, {RETURN}});
}

/* static void entry(int m) { if (Math.tan(Double.longBitsToDouble(m + bits)) != 0) aside(m); }
 *
 * The compilers replace Math.tan() by a call of a C routine without leaving Java code. The method
 * is small and is inlined, so a probe is that call and a comparison. In the interpreter the JVM's
 * own routine gets the NaN and returns a NaN, which is not equal to 0, so the native method is
 * called. Comparing with 0 and not with the value is needed because a NaN differs from
 * everything. */
static void put_leaf(struct probe_class *class, const char *name, uint64_t bits, const char *aside)
{
    enum { BITS = 3, TO_DOUBLE = 7, TAN = 10, JUMP = 15, ASIDE = 19, RETURN = 21 };
    uint8_t code[] = {0x1a, 0x85, 0x14, 0,    0, 0x61, 0xb8, 0,    0, 0xb8, 0,
                      0,    0x0e, 0x97, 0x99, 0, 0,    0x1a, 0xb8, 0, 0,    0xb1};
    store_u2(code + BITS, add_long(class, bits));
    store_u2(code + TO_DOUBLE, add_method(class, "java/lang/Double", "longBitsToDouble", "(J)D"));
    store_u2(code + TAN, add_method(class, "java/lang/Math", "tan", "(D)D"));
    store_u2(code + JUMP, RETURN - (JUMP - 1));
    store_u2(code + ASIDE, add_method(class, PROBE_CLASS, aside, "(I)V"));
    put_java(class, name, "(I)V", &(struct java_code){code, sizeof code, 4, 1, {RETURN}});
}

static void put_operand(struct class_output *code, uint32_t opcode, uint32_t index)
{
    put_u1(code, opcode);
    put_u2(code, index);
}

/* Shape of a probe of an object, with or without a number. */
struct shown_shape {
    const char *descriptor;
    const char *show, *add, *aside; /* loads: object and number; number; arguments of the native
                                     * one */
    uint32_t variables;
};

/* static void entryThis(int m, Object o) {
 *     if (sight != null) {
 *         sight.show(o, m);
 *         if (Math.tan(Double.longBitsToDouble(m + bits)) == 0) return;
 *     }
 *     aside(m, o); } */
static void put_shown(struct probe_class *class, const struct shown_shape *shape, const char *name,
                      uint64_t bits, const char *aside)
{
    struct class_output code = {0};
    uint32_t sight =
        add_member(class, CONSTANT_FIELD, PROBE_CLASS, PROBE_SIGHT_FIELD, "L" PROBE_CLASS ";");
    uint32_t loads = (uint32_t) (strlen(shape->show) + strlen(shape->add));
    uint32_t aside_at = 26 + loads, return_at = aside_at + 3 + (uint32_t) strlen(shape->aside);
    put_operand(&code, 0xb2, sight);
    put_operand(&code, 0xc6, aside_at - 3);
    put_operand(&code, 0xb2, sight);
    put_bytes(&code, shape->show, strlen(shape->show));
    put_operand(&code, 0xb6, add_method(class, PROBE_CLASS, SIGHT_METHOD, SIGHT_DESCRIPTOR));
    put_operand(&code, 0x14, add_long(class, bits));
    put_bytes(&code, shape->add, strlen(shape->add));
    put_operand(&code, 0xb8, add_method(class, "java/lang/Double", "longBitsToDouble", "(J)D"));
    put_operand(&code, 0xb8, add_method(class, "java/lang/Math", "tan", "(D)D"));
    put_bytes(&code, "\x0e\x97", 2);
    put_operand(&code, 0x99, return_at - (aside_at - 3));
    put_bytes(&code, shape->aside, strlen(shape->aside));
    put_operand(&code, 0xb8, add_method(class, PROBE_CLASS, aside, shape->descriptor));
    put_u1(&code, 0xb1);
    class->file.output.failed |= code.failed;
    if (!code.failed)
        put_java(class, name, shape->descriptor,
                 &(struct java_code){
                     code.bytes, (uint32_t) code.used, 4, shape->variables, {aside_at, return_at}});
    free(code.bytes);
}

/* void show(Object o, long n) { Unsafe.theUnsafe.copyMemory0(o, 0, null, n, 0); } */
static void put_show(struct probe_class *class)
{
    enum { UNSAFE = 1, COPY = 9 };
    uint8_t code[] = {0xb2, 0, 0, 0x2b, 0x09, 0x01, 0x20, 0x09, 0xb6, 0, 0, 0xb1};
    store_u2(code + UNSAFE,
             add_member(class, CONSTANT_FIELD, SIGHT_HOST, "theUnsafe", "L" SIGHT_HOST ";"));
    store_u2(code + COPY, add_method(class, SIGHT_HOST, "copyMemory0",
                                     "(Ljava/lang/Object;JLjava/lang/Object;JJ)V"));
    put_code(class, ACCESS_SHOW, SIGHT_METHOD, SIGHT_DESCRIPTOR,
             &(struct java_code){.bytes = code, .length = sizeof code, .stack = 9, .variables = 4});
}

/* static void prove(int n) { for (; n > 0; n--) { proofEntry(5); proofEntry(5); proofExit(5); } }:
 * shows leaf_calls.c whether calls of methods like entry() and exit() are kept. */
static void put_proof(struct probe_class *class)
{
    enum { TO_RETURN = 3, ENTRY = 7, AGAIN = 11, EXIT = 15, BACK = 21, RETURN = 23 };
    uint8_t code[] = {0x00, 0x1a, 0x9e, 0, 0, 0x08, 0xb8, 0,    0,    0x08, 0xb8, 0,
                      0,    0x08, 0xb8, 0, 0, 0x84, 0,    0xff, 0xa7, 0,    0,    0xb1};
    uint32_t entry = add_method(class, PROBE_CLASS, "proofEntry", "(I)V");
    probe_class_put_head(class, ACCESS_METHOD, "proofEntryAside", "(I)V", 0);
    probe_class_put_head(class, ACCESS_METHOD, "proofExitAside", "(I)V", 0);
    put_leaf(class, "proofEntry", leaf_bits(LEAF_ENTRY), "proofEntryAside");
    put_leaf(class, "proofExit", leaf_bits(LEAF_EXIT), "proofExitAside");
    store_u2(code + TO_RETURN, RETURN - (TO_RETURN - 1));
    store_u2(code + ENTRY, entry);
    store_u2(code + AGAIN, entry);
    store_u2(code + EXIT, add_method(class, PROBE_CLASS, "proofExit", "(I)V"));
    store_u2(code + BACK, (uint16_t) (1 - (BACK - 1)));
    put_java(class, "prove", "(I)V", &(struct java_code){code, sizeof code, 1, 1, {1, RETURN}});
}

static void put_quick(struct probe_class *class, enum leaf_probe probe)
{
    static const struct shown_shape of_method = {"(ILjava/lang/Object;)V", "\x2b\x1a\x85",
                                                 "\x1a\x85\x61", "\x1a\x2b", 2},
                                    of_new = {"(Ljava/lang/Object;)V", "\x2a\x09", "", "\x2a", 1};
    const char *name = probe_methods[leaf_probes[probe].probe].name,
               *aside = leaf_probes[probe].aside;
    if (leaf_probes[probe].way == PROBES_LEAF)
        put_leaf(class, name, leaf_bits(probe), aside);
    else
        put_shown(class, leaf_probes[probe].way == PROBES_SHOW ? &of_method : &of_new, name,
                  leaf_bits(probe), aside);
}

static void put_probes(struct probe_class *class, unsigned ways)
{
    for (uint32_t i = 0; i < PROBE_COUNT; i++)
        probe_class_put_head(class, ACCESS_METHOD, probe_native_name((enum probe) i, ways),
                             probe_methods[i].descriptor, 0);
    for (int i = 0; i < LEAF_PROBE_COUNT; i++)
        if ((leaf_probes[i].way & ways) != 0)
            put_quick(class, (enum leaf_probe) i);
    if ((ways & PROBES_LEAF) != 0)
        put_proof(class);
    if ((ways & (PROBES_SHOW | PROBES_SHOW_NEW)) != 0)
        probe_class_put_head(class, ACCESS_TO_COME, SIGHT_METHOD, SIGHT_DESCRIPTOR, 0);
    put_link(class);
    put_keep(class);
    put_copied(class);
}

const char *probe_native_name(enum probe probe, unsigned ways)
{
    for (int i = 0; i < LEAF_PROBE_COUNT; i++)
        if (leaf_probes[i].probe == probe && (leaf_probes[i].way & ways) != 0)
            return leaf_probes[i].aside;
    return probe_methods[probe].name;
}

static uint8_t *probe_class_put_together(struct probe_class *class, uint32_t version,
                                         uint32_t access, const char *self, const char *super,
                                         bool has_sight, size_t *size_bytes)
{
    struct class_output output = {0};
    struct class_file *file = &class->file;
    uint32_t self_index = pool_add_class(file, self), super_index = pool_add_class(file, super);
    uint32_t name = pool_add_text(file, PROBE_SIGHT_FIELD);
    uint32_t descriptor = pool_add_text(file, "L" PROBE_CLASS ";");
    put_u4(&output, 0xCAFEBABE);
    put_u4(&output, version);
    put_u2(&output, file->added_count);
    put_bytes(&output, file->added.bytes, file->added.used);
    put_u2(&output, access);
    put_u2(&output, self_index);
    put_u2(&output, super_index);
    put_u2(&output, 0); /* interfaces */
    put_u2(&output, has_sight);
    if (has_sight) {
        put_u2(&output, ACCESS_FIELD);
        put_u2(&output, name);
        put_u2(&output, descriptor);
        put_u2(&output, 0); /* attributes */
    }
    put_u2(&output, class->method_count);
    put_bytes(&output, file->output.bytes, file->output.used);
    put_u2(&output, 0); /* attributes */
    bool failed = file->added.failed || file->output.failed || output.failed;
    free(file->added.bytes);
    free(file->output.bytes);
    if (failed) {
        free(output.bytes);
        return NULL;
    }
    *size_bytes = output.used;
    return output.bytes;
}

uint8_t *probe_class_file(unsigned ways, size_t *size_bytes)
{
    struct probe_class class = {.file.added_count = NO_CONSTANTS};
    bool shows = (ways & (PROBES_SHOW | PROBES_SHOW_NEW)) != 0;
    put_probes(&class, ways);
    return probe_class_put_together(&class, CLASS_VERSION, shows ? ACCESS_BASE : ACCESS_CLASS,
                                    PROBE_CLASS, "java/lang/Object", shows, size_bytes);
}

uint8_t *sight_class_file(size_t *size_bytes)
{
    struct probe_class class = {.file.added_count = NO_CONSTANTS};
    put_show(&class);
    return probe_class_put_together(&class, NEST_VERSION, ACCESS_CLASS, SIGHT_CLASS, PROBE_CLASS,
                                    false, size_bytes);
}
