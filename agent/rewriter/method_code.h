/* SPDX-License-Identifier: Apache-2.0 */
/* The code of one method while it is rewritten. The steps are, in this order: method_scan() checks
 * the instructions and marks where probes go; constructor_mark() finds the part of a constructor
 * that runs before super(); code_layout() gives each instruction its new place; code_emit() writes
 * the code, and code_tables.c and stack_map_write.c write the tables that contain offsets.
 *
 * Functions return false if the method or the class cannot be rewritten. If `reason` is set, the
 * method is left alone and the class continues; otherwise the class file has the fault. */
#ifndef AGENT_REWRITER_METHOD_CODE_H
#define AGENT_REWRITER_METHOD_CODE_H

#include "agent/rewriter/class_file.h"

#define CODE_LIMIT 65535u

enum opcode {
    NOP = 0x00,
    ACONST_NULL = 0x01,
    ICONST_0 = 0x03,
    LDC = 0x12,
    LDC_W = 0x13,
    LDC2_W = 0x14,
    ILOAD = 0x15,
    ALOAD = 0x19,
    ILOAD_0 = 0x1A,
    ALOAD_0 = 0x2A,
    ISTORE = 0x36,
    ASTORE = 0x3A,
    ISTORE_0 = 0x3B,
    ASTORE_0 = 0x4B,
    AASTORE = 0x53,
    POP = 0x57,
    DUP = 0x59,
    DUP_X1 = 0x5A,
    DUP2 = 0x5C,
    SWAP = 0x5F,
    GOTO = 0xA7,
    JSR = 0xA8,
    RET = 0xA9,
    IRETURN = 0xAC,
    RETURN = 0xB1,
    GETSTATIC = 0xB2,
    PUTSTATIC = 0xB3,
    GETFIELD = 0xB4,
    PUTFIELD = 0xB5,
    INVOKEVIRTUAL = 0xB6,
    INVOKESPECIAL = 0xB7,
    INVOKESTATIC = 0xB8,
    INVOKEINTERFACE = 0xB9,
    NEWARRAY = 0xBC,
    ANEWARRAY = 0xBD,
    ARRAYLENGTH = 0xBE,
    ATHROW = 0xBF,
    CHECKCAST = 0xC0,
    INSTANCEOF = 0xC1,
    WIDE = 0xC4,
    MULTIANEWARRAY = 0xC5,
    GOTO_W = 0xC8,
    JSR_W = 0xC9
};

/* Bits of method_code.marks, which has one entry per byte of old code. */
enum code_mark {
    MARK_START = 1 << 0,         /* an instruction begins here */
    MARK_RETURN = 1 << 1,        /* a return with probes before it */
    MARK_CAUGHT = 1 << 2,        /* an exception handler with a probe before it */
    MARK_ALLOC = 1 << 3,         /* alloc() or another probe of the result after it */
    MARK_CLONED = 1 << 4,        /* allocCloned() or allocSuperCloned() around it */
    MARK_ARRAYS = 1 << 5,        /* multianewarray: allocArrays() after it */
    MARK_ARRAYS_CALL = 1 << 6,   /* (Class, int[]): allocArrays() around it */
    MARK_CONSTRUCTED = 1 << 7,   /* `this` is initialised from here on */
    MARK_NO_THIS = 1 << 8,       /* ... and is not in local variable 0 */
    MARK_UNINITIALIZED = 1 << 9, /* of a constructor, before super() */
    MARK_WIDE = 1 << 10,         /* a jump that needs 32 bits */
    MARK_TRAMPOLINE = 1 << 11,   /* a jump that needs a trampoline */
    MARK_SLOT = 1 << 12,         /* a place for trampolines before it */
    MARK_KEEP = 1 << 14,         /* keep() before it */
    MARK_VARIABLE = 1 << 15,     /* a probe of the result and of a variable after it */
    MARK_FALLS_IN = 1 << 13,     /* ... into which the instruction before runs */
    MARK_STORE = 1 << 16,        /* a store of a reference, with a probe after it: stores.c */
    MARK_STORE_CALL = 1 << 17,   /* a call that stores references */
    MARK_CLONE_SURE = 1 << 18    /* with MARK_CLONED: storeClone() instead of allocCloned() */
};

/* Instructions with a probe before or after them. */
#define MARKS_PROBES                                                                               \
    (MARK_RETURN | MARK_CAUGHT | MARK_ALLOC | MARK_CLONED | MARK_VARIABLE | MARK_ARRAYS |          \
     MARK_ARRAYS_CALL | MARK_KEEP | MARK_STORE | MARK_STORE_CALL | MARK_CONSTRUCTED)

/* goto_w for a conditional jump that cannot reach its target any more. */
struct trampoline {
    uint32_t jump, target,
        slot;          /* old offsets: of the two instructions, and of the one that it is before */
    uint32_t position; /* new offset */
};

/* A field that a constructor sets before super(). */
struct early_store {
    const struct early_store *next;
    uint32_t index; /* the field's constant */
};

/* Bytes of the probes before and after an instruction. */
struct probe_bytes {
    uint32_t before, after;
};

struct method_code {
    struct class_file *file;
    struct class_output *output; /* the file's, or while probes are measured another one */
    struct class_callee self;
    uint16_t access;
    bool constructor;      /* of any class except Object, whose constructor's this is initialised */
    bool object_init;      /* Object.<init> */
    bool alloc;            /* allocation probes */
    bool references;       /* probes of stores */
    bool may_outgrow;      /* it may become larger than the JVM compiles */
    uint32_t number;       /* that method probes pass; 0: it has none */
    bool leaf;             /* a single method probe, at the return: method_scan.c */
    struct code_push push; /* of the number */
    const char *reason;    /* why the method is left alone */

    uint32_t max_stack, max_locals;
    const uint8_t *code;
    uint32_t length;
    const uint8_t *handlers;
    uint32_t handler_count;
    const uint8_t *attributes, *attributes_end;
    uint32_t attribute_count;
    const uint8_t *frames, *frames_end; /* the StackMapTable's content; NULL: none */
    uint32_t frames_name;
    bool has_lines;

    uint32_t *marks;    /* length + 1 */
    bool runs_before;   /* a constructor that may run other code before super() */
    bool touched;       /* any probe at all */
    bool catches;       /* handlers with caught() */
    bool stores_fields; /* a putfield of a reference */
    const struct early_store *early;
    uint32_t more_stack, more_locals; /* needed by probes beyond max_stack, max_locals */

    struct probe_bytes *probe_bytes; /* length; only of instructions */
    uint32_t prologue_bytes;
    uint32_t *map; /* length + 1: new offset of each old one, as a jump target */
    uint32_t new_length;
    uint32_t handler;     /* offset of the unwinding handler; new_length if there is none */
    uint32_t padding;     /* bytes of no-ops in it */
    uint32_t guard_count; /* rows before the exception table's own */
    struct trampoline *trampolines; /* ordered by slot, then jump */
    uint32_t trampoline_count, trampoline_room;
};

/* method_code.c; these store the fault and always return false. */
bool method_malformed(struct method_code *method, uint32_t offset, const char *message);
bool method_no_callee(struct method_code *method, uint32_t offset); /* replaces the pool's fault */
bool method_leave(struct method_code *method, const char *reason);
bool method_no_memory(struct method_code *method);
/* Writes the call of a probe; the class file has the fault if its constant pool is full. */
void code_put_call(struct method_code *method, enum probe probe);
/* Writes a load or store of a variable; `brief` is the opcode for number 0. */
void code_put_variable(struct class_output *output, uint32_t opcode, uint32_t brief,
                       uint32_t variable);

/* Returns the number of trampolines in the slot at `offset`, and sets the first. */
uint32_t slot_trampolines(const struct method_code *method, uint32_t offset,
                          const struct trampoline **first);

/* Returns the trampoline of a jump that has one. */
const struct trampoline *trampoline_of(const struct method_code *method, uint32_t offset);

/* method_code.c */
/* Returns the size of the instruction at `offset` of the old code, with operands and padding. 0: it
 * exceeds the code or is not an instruction. */
uint32_t instruction_size(const uint8_t *code, uint32_t length, uint32_t offset);
static inline bool opcode_ends_flow(uint32_t opcode)
{
    return opcode == 0xA7 || opcode == 0xC8 || (opcode >= 0xA9 && opcode <= 0xB1) || opcode == 0xBF;
}
static inline bool opcode_is_switch(uint32_t opcode)
{
    return opcode == 0xAA || opcode == 0xAB;
}
/* Returns true for a jump with a 16-bit offset: if..., goto, jsr, ifnull, ifnonnull. */
static inline bool opcode_is_jump(uint32_t opcode)
{
    return (opcode >= 0x99 && opcode <= 0xA8) || opcode == 0xC6 || opcode == 0xC7;
}
static inline bool opcode_is_wide_jump(uint32_t opcode)
{
    return opcode == 0xC8 || opcode == 0xC9;
}
/* Returns the target of the jump at `offset`, which is beyond the code if it is malformed. */
uint32_t jump_target(const struct method_code *method, uint32_t offset);
/* Returns where the operands of a switch begin. */
static inline uint32_t switch_operands(uint32_t offset)
{
    return (offset + 4) & ~3u;
}
/* Returns the number of jumps of a checked switch besides the default, and sets the place and the
 * distance of their offsets. */
uint32_t switch_cases(const uint8_t *code, uint32_t offset, uint32_t *first, uint32_t *stride);

/* Returns true if a handler covers the whole body. Object.<init> has none: where C2 registers a
 * finalizer at its return, it has lost the position in the code, and searches all handlers of the
 * method in a way that does not work with a catch-all. */
static inline bool has_unwinding(const struct method_code *method)
{
    return method->number != 0 && !method->object_init;
}

/*
 * A guard around a probe in an exception handler.  An exception that the probe throws, because the
 * stack is full, reaches no handler of the program but is dropped.  The handler continues with its
 * own exception, which is kept in a variable meanwhile:
 *     astore v; push m; invokestatic probe; aconst_null; GUARD: pop; aload v
 */
struct guard {
    uint32_t variable, place; /* where it begins in the new code */
};
static inline uint32_t variable_bytes(uint32_t variable)
{
    return variable <= 3 ? 1 : variable <= 255 ? 2 : 4;
}
static inline struct guard caught_guard(const struct method_code *method, uint32_t offset)
{
    return (struct guard){method->max_locals, method->map[offset]};
}
static inline struct guard unwind_guard(const struct method_code *method)
{
    return (struct guard){0, method->handler};
}
#define CALL_BYTES 3u /* invokestatic */
/* Start and end of the guarded part, and place of GUARD. */
static inline uint32_t guard_start(struct guard guard)
{
    return guard.place + variable_bytes(guard.variable);
}
static inline uint32_t guard_end(const struct method_code *method, struct guard guard)
{
    return guard_start(guard) + method->push.size + CALL_BYTES;
}
static inline uint32_t guard_handler(const struct method_code *method, struct guard guard)
{
    return guard_end(method, guard) + 1;
}
/* Number of variables including those of the guards. */
uint32_t guarded_locals(const struct method_code *method);

/* Returns true if superCall() comes before this instruction, which is super() or this(). */
static inline bool has_super_call(const struct method_code *method, uint32_t offset)
{
    return method->number != 0 && method->runs_before && !method->file->request->nameless &&
           (method->marks[offset] & MARK_CONSTRUCTED) != 0;
}

/* Returns true if constructed() comes where `this` becomes initialised. */
static inline bool has_constructed(const struct method_code *method)
{
    return method->number != 0 && !method->file->request->nameless;
}

/* Returns true if the entry probe is entry(), not one with an object. */
static inline bool has_plain_entry(const struct method_code *method)
{
    return (method->access & ACCESS_STATIC) != 0 || method->file->request->nameless;
}

/* Returns true if the entry probe of a phase gets a local variable. */
static inline bool passes_variable(const struct method_code *method)
{
    return method->file->request->phases && (method->number & PHASE_VARIABLE_MASK) != 0;
}

/* Returns true if the phase begins where `this` becomes initialised: before that, an exception
 * leaves a constructor without a probe. */
static inline bool begins_late(const struct method_code *method)
{
    return method->file->request->phases && method->number != 0 && method->constructor;
}

/* method_scan.c; call the second one after the first. */
bool method_scan(struct method_code *method);
bool is_leaf_method(const struct method_code *method);

/* constructor.c: MARK_UNINITIALIZED, MARK_CONSTRUCTED, MARK_NO_THIS. */
bool constructor_mark(struct method_code *method);

/* code_layout.c */
bool code_layout(struct method_code *method);
/* Returns the new place of the instruction itself, after the probes before it. */
static inline uint32_t instruction_place(const struct method_code *method, uint32_t offset)
{
    return method->map[offset] + method->probe_bytes[offset].before;
}
/* Returns the new end of a range of old code that ends before `offset`: before any trampolines
 * there. */
uint32_t range_end(const struct method_code *method, uint32_t offset);
/* code_emit.c */
/* Return the bytes of the prologue, and of the probes around an instruction, by writing them
 * elsewhere. */
uint32_t code_measure_prologue(struct method_code *method);
struct probe_bytes code_measure(struct method_code *method, uint32_t offset);
/* Writes the code itself, without its length. */
bool code_emit(struct method_code *method);

/* code_tables.c: write the exception table with its count, and a whole LineNumberTable,
 * LocalVariable(Type)Table or Runtime(In)VisibleTypeAnnotations. */
bool code_put_handlers(struct method_code *method);
bool code_put_attribute(struct method_code *method, const uint8_t *attribute);

/* instruction_places.c; returns false at a fault. */
bool code_places_report(struct method_code *method);

/* stack_map_write.c */
/* Writes the whole StackMapTable. */
bool stack_map_put(struct method_code *method);

/* stack_map.c */
/* Calls `visit` for the old offset of each frame. */
bool stack_map_visit(struct method_code *method,
                     void (*visit)(struct method_code *method, uint32_t offset));

/*
 * Probes of reference stores, each after the store, with the stored value and its place:
 *
 *     putfield    dup2; putfield; push n; storeField
 *     putstatic   dup; putstatic; push n; storeStatic
 *     aastore     astore v; dup2; aload v; aastore; aload v; storeElement
 *     calls       save and reload the arguments; call; probe of some, and of the result
 *
 * Before super() a constructor may store into fields of its uninitialised `this`, which cannot be
 * passed to a probe. These fields are read and reported when super() has returned.
 */

/* Additional stack for these probes. */
#define STORE_STACK 2u

/* Marks the instruction at `offset` if it stores references. Returns false at a fault. */
bool store_mark(struct method_code *method, uint32_t offset);
/* Returns true if the putfield at `offset` sets a field of the uninitialised this. */
bool store_is_early(struct method_code *method, uint32_t offset);

/* Write the code around a marked instruction. */
void store_put_before(struct method_code *method, uint32_t offset);
void store_put_after(struct method_code *method, uint32_t offset);

/* Writes the code that reports the early stores, after super(). */
void store_put_early(struct method_code *method);

/* Calls that return a new object which no constructor and no array instruction shows. */

enum alloc_call {
    ALLOC_CALL_UNKNOWN, /* not looked up yet */
    ALLOC_CALL_NONE,
    ALLOC_CALL_FRESH,
    ALLOC_CALL_CLONE,        /* clone() of any class: a new object only if the class has Object's */
    ALLOC_CALL_CLONE_OWN,    /* same, of the calling class */
    ALLOC_CALL_CLONE_OBJECT, /* same, of Object */
    ALLOC_CALL_CLONE_ARRAY,  /* same, of an array */
    ALLOC_CALL_STRING,       /* a fresh string with its array */
    ALLOC_CALL_TRACE,        /* a throwable with fresh arrays of its stack trace */
    ALLOC_CALL_UNLESS,       /* fresh unless the result is in a variable of the caller */
    ALLOC_CALL_MESSAGE,      /* a throwable whose message, in a variable of the caller, may be
                              * fresh */
    ALLOC_CALL_ARRAYS,       /* (Class, int[] dimensions) */
    ALLOC_CALL_KEEP          /* before calls that C2 would remove */
};

/* What the calling method does about such a call, by its kind; about clones see method_scan.c. */
extern const struct alloc_result {
    uint32_t mark; /* enum code_mark */
    enum probe probe;
    uint32_t variable; /* of the caller, which the probe gets as well; 0: none */
} alloc_results[];

/* Returns false if the caller has no such variable, or it means something else. */
bool alloc_call_fits(enum alloc_call kind, const struct method_code *method);

/* Returns what a call of the method constant `index` gives. UNKNOWN: it is not a method, and the
 * fault is set. */
enum alloc_call alloc_call_of(struct class_file *file, uint32_t index);

/* Returns true if a method's callers report what its body allocates, so that the body must not. */
bool alloc_body_is_silent(const struct method_code *method);

#endif
