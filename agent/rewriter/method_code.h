/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code of one method while it is rewritten.  The steps, in this order: method_scan() checks the
 * instructions and marks where probes go; constructor_mark() finds what of a constructor runs
 * before super(); code_layout() gives each instruction its new place; code_emit() writes the code,
 * and code_tables.c and stack_map.c the tables that hold offsets.
 *
 * Functions return false where the method or the class can't be rewritten: with `reason` set, the
 * method is left alone and the class goes on, otherwise the class file holds the fault.
 */
#ifndef AGENT_REWRITER_METHOD_CODE_H
#define AGENT_REWRITER_METHOD_CODE_H

#include "agent/rewriter/class_file.h"

#define CODE_LIMIT 65535u

/* Bits of method_code.marks, one entry a byte of old code. */
enum code_mark {
    MARK_START = 1 << 0,         /* an instruction begins here */
    MARK_RETURN = 1 << 1,        /* a return with probes before it */
    MARK_CAUGHT = 1 << 2,        /* an exception handler with a probe before it */
    MARK_ALLOC = 1 << 3,         /* alloc() or another probe of the result after it */
    MARK_CLONED = 1 << 4,        /* allocCloned() or allocSuperCloned() around it */
    MARK_ARRAYS = 1 << 5,        /* multianewarray: allocArrays() after it */
    MARK_ARRAYS_CALL = 1 << 6,   /* (Class, int[]): allocArrays() around it */
    MARK_CONSTRUCTED = 1 << 7,   /* this has become an object */
    MARK_NO_THIS = 1 << 8,       /* ... which is in no local variable 0 */
    MARK_UNINITIALIZED = 1 << 9, /* of a constructor, before super() */
    MARK_WIDE = 1 << 10,         /* a jump that needs 32 bits */
    MARK_TRAMPOLINE = 1 << 11,   /* a jump that needs a trampoline */
    MARK_SLOT = 1 << 12,         /* a place for trampolines before it */
    MARK_KEEP = 1 << 14,         /* keep() before it */
    MARK_VARIABLE = 1 << 15,     /* a probe of the result and of a variable after it */
    MARK_FALLS_IN = 1 << 13,     /* ... which the instruction before runs into */
    MARK_STORE = 1 << 16,        /* a store of a reference, with a probe after it: stores.h */
    MARK_STORE_CALL = 1 << 17,   /* a call that stores references */
    MARK_CLONE_SURE = 1 << 18    /* with MARK_CLONED: storeClone() in the place of allocCloned() */
};

/* goto_w for a conditional jump that can't reach its target any more. */
struct trampoline {
    uint32_t jump, target,
        slot;          /* old offsets of the two instructions, of the one it lies before */
    uint32_t position; /* new offset */
};

/* Fields that a constructor puts into before super(). */
struct early_store {
    const struct early_store *next;
    uint32_t index; /* the field's constant */
};

struct method_code {
    struct class_file *file;
    struct class_text name, descriptor;
    uint16_t access;
    bool constructor;      /* of any class but Object, whose constructor has its this at once */
    bool object_init;      /* Object.<init> */
    bool alloc;            /* allocation probes */
    bool references;       /* probes of stores */
    bool may_outgrow;      /* what the JVM compiles */
    uint32_t number;       /* method probes, or 0 */
    bool leaf;             /* one of them, at the return: leaf_method.c */
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

    uint32_t *marks;    /* length + 1 */
    bool runs_before;   /* a constructor that may run other code before super() */
    bool touched;       /* any probe at all */
    bool catches;       /* handlers with caught() */
    bool stores_fields; /* a putfield of a reference */
    const struct early_store *early;
    uint32_t more_stack, more_locals; /* that probes need above max_stack, max_locals */

    uint32_t *map; /* length + 1: old offset to new one, as the target of a jump */
    uint32_t new_length;
    uint32_t handler;     /* offset of the unwinding handler; new_length if there is none */
    uint32_t padding;     /* bytes in it that do nothing */
    uint32_t guard_count; /* rows before the exception table's own */
    struct trampoline *trampolines; /* ordered by slot, then jump */
    uint32_t trampoline_count, trampoline_room;
};

/* method_code.c; these always return false. */
bool method_malformed(struct method_code *method, uint32_t offset, const char *message);
bool method_leave(struct method_code *method, const char *reason);
bool method_no_memory(struct method_code *method);
/* The call of a probe. */
bool code_put_call(struct method_code *method, enum probe probe);
/* A load or store of a variable; `brief` is the opcode for number 0. */
void code_put_variable(struct class_output *output, uint32_t opcode, uint32_t brief,
                       uint32_t variable);

/* instructions.c */
/* Bytes of the instruction at `offset` of the old code, with operands and padding; 0: it does not
 * fit into the code or is none. */
uint32_t instruction_size(const uint8_t *code, uint32_t length, uint32_t offset);
static inline bool opcode_ends_flow(uint32_t opcode)
{
    return opcode == 0xA7 || opcode == 0xC8 || (opcode >= 0xA9 && opcode <= 0xB1) || opcode == 0xBF;
}
static inline bool opcode_is_switch(uint32_t opcode)
{
    return opcode == 0xAA || opcode == 0xAB;
}
/* A jump with a 16-bit offset: if..., goto, jsr, ifnull, ifnonnull. */
static inline bool opcode_is_jump(uint32_t opcode)
{
    return (opcode >= 0x99 && opcode <= 0xA8) || opcode == 0xC6 || opcode == 0xC7;
}
static inline bool opcode_is_wide_jump(uint32_t opcode)
{
    return opcode == 0xC8 || opcode == 0xC9;
}
/* The target of a jump at `offset`; beyond the code if it is malformed. */
uint32_t jump_target(const struct method_code *method, uint32_t offset);
/* The operands of a switch start here. */
static inline uint32_t switch_operands(uint32_t offset)
{
    return (offset + 4) & ~3u;
}
/* The number of jumps of a checked switch besides the default; where their offsets lie, how far
 * apart. */
uint32_t switch_cases(const uint8_t *code, uint32_t offset, uint32_t *first, uint32_t *stride);

/* The handler over the whole body.  Object.<init> has none: where C2 registers a finalizer at its
 * return, it has forgotten the place in the code, and looks into all handlers of the method in a
 * way that a catch-all does not survive. */
static inline bool has_unwinding(const struct method_code *method)
{
    return method->number != 0 && !method->object_init;
}

/*
 * A guard around a probe in an exception handler: what it throws, where the stack is full, goes to
 * no handler of the program, but is dropped, and the handler goes on with the exception that it was
 * called for, kept in a variable meanwhile:
 *     astore v; push m; invokestatic probe; aconst_null; GUARD: pop; aload v
 */
struct guard {
    uint32_t variable, place; /* where it starts in the new code */
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
/* Of the whole, of the part that is guarded; where GUARD is. */
uint32_t guard_start(struct guard guard);
uint32_t guard_end(const struct method_code *method, struct guard guard);
uint32_t guard_handler(const struct method_code *method, struct guard guard);
/* Variables with those of the guards. */
uint32_t guarded_locals(const struct method_code *method);

/* superCall() before the instruction, which is super() or this(). */
static inline bool has_super_call(const struct method_code *method, uint32_t offset)
{
    return method->number != 0 && method->runs_before && !method->file->request->nameless &&
           (method->marks[offset] & MARK_CONSTRUCTED) != 0;
}

/* constructed(), where this has become an object. */
static inline bool has_constructed(const struct method_code *method)
{
    return method->number != 0 && !method->file->request->nameless;
}

/* entry() rather than a probe of the object, or of one that is still to come. */
static inline bool has_plain_entry(const struct method_code *method)
{
    return (method->access & ACCESS_STATIC) != 0 || method->file->request->nameless;
}

/* method_scan.c */
bool method_scan(struct method_code *method);

/* leaf_method.c; after the scan. */
bool is_leaf_method(const struct method_code *method);

/* constructor.c: MARK_UNINITIALIZED, MARK_CONSTRUCTED, MARK_NO_THIS. */
bool constructor_mark(struct method_code *method);

/* code_layout.c */
bool code_layout(struct method_code *method);
/* Bytes of probes before and after the instruction at `offset`. */
uint32_t bytes_before(const struct method_code *method, uint32_t offset);
/* The new place of the instruction itself, after the probes before it. */
static inline uint32_t instruction_place(const struct method_code *method, uint32_t offset)
{
    return method->map[offset] + bytes_before(method, offset);
}
/* Where a range of old code that ends before `offset` ends: before any trampolines there. */
uint32_t range_end(const struct method_code *method, uint32_t offset);
/* The first trampoline of the slot at `offset` and how many there are. */
uint32_t slot_trampolines(const struct method_code *method, uint32_t offset,
                          const struct trampoline **first);

/* trampolines.c */
/* Marks the places where trampolines may lie. */
bool trampolines_prepare(struct method_code *method);
/* Gives the jump at `offset` one. */
bool trampoline_add(struct method_code *method, uint32_t offset);
const struct trampoline *trampoline_of(const struct method_code *method, uint32_t offset);

/* code_emit.c: the code itself, without its length. */
bool code_emit(struct method_code *method);

/* code_tables.c: the exception table with its count; a LineNumberTable, LocalVariable(Type)Table or
 * Runtime(In)VisibleTypeAnnotations, whole. */
bool code_put_handlers(struct method_code *method);
bool code_put_attribute(struct method_code *method, const uint8_t *attribute);

/* stack_map.c: the StackMapTable, whole. */
bool stack_map_put(struct method_code *method);

/* map_reader.c: calls `visit` for the old offset of each frame. */
bool stack_map_visit(struct method_code *method,
                     void (*visit)(struct method_code *method, uint32_t offset));

#endif
