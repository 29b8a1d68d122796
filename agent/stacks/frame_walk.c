/* SPDX-License-Identifier: Apache-2.0 */
/* Walks machine frames from where the thread left Java for the probe outwards: compiled frames by
 * the size that the code cache stores, interpreted ones by the frame pointer, and from an entry
 * frame (native code that called Java) to where Java was left before it. All reads of frames stay
 * within the thread's own stack and move outwards, so a walk ends whatever it reads. */
#include "agent/stacks/frame_walk.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/base/java_versions.h"
#include "agent/base/jvm_classes.h"
#include "agent/base/tracer.h"
#include "format/core/hash.h"

/* Sizes per thread; powers of two. */
#define PLACES 2048u
#define LAST 512u
#define STACK_ALIGNMENT 16u
#define METHODS 1024u
#define STARTS 2048u
#define STARTS_LOOKED_AT 16u

/* Words of a frame of x86-64, from its frame pointer (interpreted) or from its end (compiled). */
enum { LINK = 0, RETURN = 1, METHOD = -3, BYTECODE = -8 };
enum { RETURN_BEFORE_END = -1, LINK_BEFORE_END = -2 };
#define WORD ((intptr_t) sizeof(uintptr_t))

static struct {
    const struct vm_structs *vm;
    uintptr_t interpreter_start, interpreter_end, call_stub_return;
    const volatile int64_t *unloaded, *shared_unloaded;
    _Atomic(jfieldID) thread_pointer; /* of java.lang.Thread */
    intptr_t environment_offset;      /* offset of the JNIEnv in a JavaThread */
} walk;

/* A hash of the innermost frames of a stack. `making` is how many of them make the object, or MORE
 * if the first frame that does not is not among them. */
struct stack_start {
    uint64_t key; /* 0: free */
    uint32_t making;
};

#define MORE MAKING_UNKNOWN

/* A start that the last walk did not find, and its number of frames. */
struct new_start {
    uint64_t key;
    uint32_t frames;
};

struct frame_walker {
    uintptr_t stack_end;
    uint32_t new_count, passed;
    uint32_t kinds;            /* of the last walk: bits of enum frame_kind */
    struct frame_trail *trail; /* of this walk, or NULL */
    struct new_start new_starts[STARTS_LOOKED_AT];
    struct stack_start starts[STARTS];
    uintptr_t methods[METHODS];       /* that were verified to be methods */
    struct code_place places[PLACES]; /* by return address */
    struct code_place last[LAST];     /* by stack pointer */
};

/* The frame being looked at. */
struct machine_frame {
    uintptr_t pc, sp, fp;
};

static uintptr_t word_at(uintptr_t base, intptr_t words)
{
    return vm_word(base + (uintptr_t) (words * WORD), 0);
}

#if defined(__x86_64__) && defined(__linux__)
static const bool machine_is_known = true;
#else
static const bool machine_is_known = false;
#endif

/* Returns the JVM's structure of the calling thread, or 0. */
static uintptr_t thread_pointer(JNIEnv *jni)
{
    jthread thread = jvm_thread();
    if (thread == NULL)
        return 0;
    jlong pointer = (*jni)->GetLongField(jni, thread, walk.thread_pointer);
    (*jni)->DeleteLocalRef(jni, thread);
    return (uintptr_t) pointer;
}

static bool find_thread_offset(JNIEnv *jni)
{
    if (class_field_once(jni, &walk.thread_pointer, "java/lang/Thread", "eetop", "J") == NULL)
        return false;
    uintptr_t thread = thread_pointer(jni);
    walk.environment_offset = (intptr_t) ((uintptr_t) jni - thread);
    return thread != 0 && walk.environment_offset > 0 && walk.environment_offset < 1 << 14;
}

static bool find_interpreter(const struct vm_structs *vm)
{
    uintptr_t queue = *vm->interpreter;
    if (queue == 0)
        return false;
    walk.interpreter_start = vm_word(queue, vm->queue_buffer);
    walk.interpreter_end = walk.interpreter_start + vm_half(queue, vm->queue_limit);
    walk.call_stub_return = *vm->call_stub_return;
    return walk.interpreter_start != 0 && walk.call_stub_return != 0;
}

static bool find_counters(void)
{
    walk.unloaded = vm_counter("java.cls.unloadedClasses");
    walk.shared_unloaded = vm_counter("java.cls.sharedUnloadedClasses");
    return walk.unloaded != NULL && walk.shared_unloaded != NULL;
}

bool frame_walk_prepare(JNIEnv *jni, const char **reason)
{
    if (walk.vm != NULL)
        return true;
    *reason = "it is known for x86-64 only";
    const struct vm_structs *vm = machine_is_known ? vm_structs_get(reason) : NULL;
    if (vm == NULL && machine_is_known) {
        static char hidden[96];
        snprintf(hidden, sizeof hidden, "the JVM does not publish %s", *reason);
        *reason = hidden;
    }
    if (vm == NULL)
        return false;
    *reason = "the code cache, the interpreter or the calls into Java are not found";
    if (!code_cache_prepare(vm) || !find_interpreter(vm))
        return false;
    *reason = "the JVM does not count the classes that it unloads (-XX:-UsePerfData)";
    if (!find_counters())
        return false;
    *reason = "threads are not found";
    if (!find_thread_offset(jni))
        return false;
    frame_hash_prepare();
    walk.vm = vm;
    return true;
}

bool frame_walk_sees_carriers(void)
{
    return walk.vm->thread_continuation != 0 || tracer.java_major < JAVA_CONTINUATIONS;
}

static uintptr_t end_of_stack(void)
{
    pthread_attr_t attributes;
    void *start = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return 0;
    bool known = pthread_attr_getstack(&attributes, &start, &size) == 0;
    pthread_attr_destroy(&attributes);
    uintptr_t here = (uintptr_t) __builtin_frame_address(0);
    return known && here > (uintptr_t) start && here - (uintptr_t) start < size
               ? (uintptr_t) start + size
               : 0;
}

struct frame_walker *frame_walker_create(void)
{
    uintptr_t end = walk.vm != NULL ? end_of_stack() : 0;
    struct frame_walker *walker = end != 0 ? calloc(1, sizeof *walker) : NULL;
    if (walker == NULL)
        return NULL;
    walker->stack_end = end;
    return walker;
}

void frame_walker_destroy(struct frame_walker *walker)
{
    free(walker);
}

static bool in_stack(const struct frame_walker *walker, uintptr_t low, uintptr_t address)
{
    return address >= low && address < walker->stack_end - 2 * sizeof(uintptr_t) &&
           address % sizeof(uintptr_t) == 0;
}

/* Sets the frame where Java was left, as the JVM has stored it. */
static bool from_anchor(const struct vm_structs *vm, uintptr_t anchor, struct machine_frame *frame)
{
    frame->sp = vm_word(anchor, vm->anchor_sp);
    frame->pc = vm_word(anchor, vm->anchor_pc);
    frame->fp = vm_word(anchor, vm->anchor_fp);
    return frame->sp != 0;
}

static bool anchored_is_sound(const struct frame_walker *walker, uintptr_t low,
                              struct machine_frame *frame)
{
    if (!in_stack(walker, low, frame->sp))
        return false;
    if (frame->pc == 0)
        frame->pc = word_at(frame->sp, -1);
    return true;
}

/* Returns true if the word can be read; a system call tests that without a fault. */
static bool frame_walk_is_readable(uintptr_t address)
{
    int saved = errno;
    bool readable = address % sizeof(uintptr_t) == 0 &&
                    (syscall(SYS_rt_sigprocmask, ~0, address, NULL, 8) == 0 || errno != EFAULT);
    errno = saved;
    return readable;
}

/* Verifies a method pointer of an interpreted frame the first time it is seen. A frame that is
 * misread may have anything at that place, and the hash reads three structures behind it; a fault
 * there would kill the JVM. A method on the thread's own stack cannot be unloaded, so what was
 * verified stays readable while it is found there. The table is direct-mapped and has no lock, as
 * each thread has its own. */
static bool is_method(struct frame_walker *walker, uintptr_t method)
{
    const struct vm_structs *vm = walk.vm;
    uintptr_t *seen = &walker->methods[(method >> 3 ^ method >> 13) % METHODS];
    if (__builtin_expect(*seen == method && method != 0, 1))
        return true;
    if (!frame_walk_is_readable(method + vm->method_const))
        return false;
    uintptr_t constant = vm_word(method, vm->method_const);
    if (!frame_walk_is_readable(constant) || !frame_walk_is_readable(constant + vm->const_size) ||
        !frame_walk_is_readable(vm_word(constant, vm->const_constants) + vm->pool_holder))
        return false;
    *seen = method;
    return true;
}

/* Sets the bytecode's index plus one, 0 for a native method. Returns false if it is not in the
 * method. */
static bool find_index(uintptr_t method, uintptr_t bytecode, uint32_t *index)
{
    const struct vm_structs *vm = walk.vm;
    uintptr_t constant = vm_word(method, vm->method_const);
    uintptr_t code = constant + vm->const_size;
    uint16_t size = *(const volatile uint16_t *) (constant + vm->const_code_size);
    *index = bytecode != 0 ? (uint32_t) (bytecode - code) + 1 : 0;
    return bytecode == 0 || (bytecode >= code && bytecode < code + size);
}

static inline void note_frame(struct frame_walker *walker, const struct frame_hash *hash,
                              uintptr_t pc, uint32_t index)
{
    struct frame_trail *trail = walker->trail;
    if (__builtin_expect(trail == NULL, 1) || hash->count == 0)
        return;
    if (trail->count < trail->capacity)
        trail->frames[trail->count] = (struct trail_frame){.hash = *hash, .pc = pc, .index = index};
    trail->count++;
}

static bool leave_interpreted(struct frame_walker *walker, struct machine_frame *frame,
                              struct frame_hash *hash)
{
    const struct vm_structs *vm = walk.vm;
    if (!in_stack(walker, frame->sp, frame->fp))
        return false;
    uintptr_t method = word_at(frame->fp, METHOD);
    uint32_t index;
    if (!is_method(walker, method) || !find_index(method, word_at(frame->fp, BYTECODE), &index))
        return false;
    struct frame_hash own = frame_hash_of(vm, method, index);
    frame_hash_join(hash, &own);
    note_frame(walker, &own, 0, index);
    walker->kinds |= 1u << FRAME_INTERPRETED;
    uintptr_t sp = word_at(frame->fp, (intptr_t) vm->interpreted_sender);
    uintptr_t pc = word_at(frame->fp, RETURN), link = word_at(frame->fp, LINK);
    bool sound = in_stack(walker, frame->fp + (uintptr_t) WORD, sp);
    *frame = (struct machine_frame){.pc = pc, .sp = sp, .fp = link};
    return sound;
}

static struct code_place *place_by_address(struct frame_walker *walker, uintptr_t pc)
{
    struct code_place *place = &walker->places[(pc ^ pc >> 12) % PLACES];
    if (__builtin_expect(!code_place_holds(place, pc), 0))
        *place = code_cache_find(walk.vm, pc);
    return place;
}

/* Finds the code of a frame, whose `pc` is not 0.
 *
 * Most frames of a walk are those of the thread's last walk: the same code at the same place of the
 * stack. So the place is looked for by the stack pointer first. That follows from the frame before,
 * and the processor goes on with it while the return address is still being loaded and compared;
 * by a hash of the return address each frame would wait for the one before. Whatever is found
 * there counts only if its return address is the frame's and the code is that of then. */
static const struct code_place *place_of(struct frame_walker *walker,
                                         const struct machine_frame *frame)
{
    struct code_place *here = &walker->last[frame->sp / STACK_ALIGNMENT % LAST];
    if (__builtin_expect(code_place_holds(here, frame->pc), 1))
        return here;
    *here = *place_by_address(walker, frame->pc);
    return here;
}

static bool leave_compiled(struct frame_walker *walker, struct machine_frame *frame,
                           struct frame_hash *hash)
{
    if (frame->pc == 0)
        return false;
    const struct code_place *place = place_of(walker, frame);
    uintptr_t end = frame->sp + place->frame_words * sizeof(uintptr_t);
    if (place->frame_words == 0 || !in_stack(walker, frame->sp, end))
        return false;
    frame_hash_join(hash, &place->frames);
    note_frame(walker, &place->frames, frame->pc, 0);
    walker->kinds |= 1u << (place->frames.count == 0   ? FRAME_STUB
                            : place->frames.count == 1 ? FRAME_COMPILED
                                                       : FRAME_INLINED);
    *frame = (struct machine_frame){
        .pc = word_at(end, RETURN_BEFORE_END), .sp = end, .fp = word_at(end, LINK_BEFORE_END)};
    return true;
}

/* Moves from native code that called Java to where Java was left before; sets `*is_end` if there is
 * no such frame. */
static bool leave_entry(struct frame_walker *walker, struct machine_frame *frame, bool *is_end)
{
    const struct vm_structs *vm = walk.vm;
    if (!in_stack(walker, frame->sp, frame->fp))
        return false;
    uintptr_t wrapper = word_at(frame->fp, (intptr_t) vm->entry_wrapper);
    if (!in_stack(walker, frame->fp, wrapper))
        return false;
    walker->kinds |= 1u << FRAME_ENTRY;
    *is_end = !from_anchor(vm, wrapper + vm->wrapper_anchor, frame);
    return *is_end || anchored_is_sound(walker, wrapper, frame);
}

static bool leave_frame(struct frame_walker *walker, struct machine_frame *frame,
                        struct frame_hash *hash, bool *is_end)
{
    if (frame->pc == walk.call_stub_return)
        return leave_entry(walker, frame, is_end);
    if (frame->pc >= walk.interpreter_start && frame->pc < walk.interpreter_end)
        return leave_interpreted(walker, frame, hash);
    return leave_compiled(walker, frame, hash);
}

/* Returns how many of the frames so far make the object, if known, or MORE. The constructors of the
 * new object are no part of its call stack, but machine frames do not say which frames are
 * constructors; only the JVM does, once for each new stack. What it said is remembered for the
 * innermost frames (frame_walk_learn()). The class is part of the salt: equal frames may make an
 * object of one class and pass through the constructor of another. */
static uint32_t find_making(struct frame_walker *walker, const struct frame_hash *hash,
                            uint64_t salt)
{
    uint64_t key = step_hash_join(step_hash_join(hash->low, hash->high ^ salt), salt) | 1;
    const struct stack_start *start = &walker->starts[(key >> 20) % STARTS];
    if (start->key == key)
        return start->making;
    if (walker->new_count < STARTS_LOOKED_AT)
        walker->new_starts[walker->new_count++] = (struct new_start){key, hash->count};
    return MORE;
}

uint32_t frame_walk_kinds(const struct frame_walker *walker)
{
    return walker->kinds;
}

void frame_walk_learn(struct frame_walker *walker, uint32_t making)
{
    for (uint32_t i = 0; i < walker->new_count; i++) {
        const struct new_start *new = &walker->new_starts[i];
        bool is_enough = new->frames > walker->passed + making;
        walker->starts[(new->key >> 20) % STARTS] =
            (struct stack_start){.key = new->key, .making = is_enough ? making : MORE};
    }
    walker->new_count = 0;
}

/* Goes outwards until the frames that decide the stack are in the hash. The loop ends in any case:
 * each frame is checked to be further out than the last (leave_... and in_stack()), within the
 * thread's stack. How many frames are wanted is not known before the constructors are counted; so
 * the hash is taken frame by frame, and the limit is lowered once that is known. Fewer frames in
 * the key than in the stack would let two stacks share a number, more would only make the same
 * stack unknown again. */
static bool walk_frames(struct frame_walker *walker, struct machine_frame *frame,
                        const struct frame_limit *limit, uint64_t unloaded, struct frame_hash *hash,
                        bool *is_end)
{
    uint32_t most = limit->wanted + limit->passed + limit->making;
    bool decided = limit->making == 0;
    walker->new_count = walker->kinds = 0;
    walker->passed = limit->passed;
    while (hash->count < most && !*is_end) {
        if (!leave_frame(walker, frame, hash, is_end))
            return false;
        if (decided || hash->count <= limit->passed)
            continue;
        uint32_t making = find_making(walker, hash, limit->salt ^ unloaded << 32);
        decided = making != MORE || hash->count > limit->passed + limit->making;
        if (making < limit->making)
            most = limit->wanted + limit->passed + making;
        if (making != MORE && walker->trail != NULL)
            walker->trail->making = making;
    }
    return true;
}

static void trail_begin(struct frame_trail *trail, const struct frame_limit *limit,
                        uint64_t unloaded)
{
    trail->unloaded = unloaded;
    trail->making = limit->making == 0 ? 0 : MAKING_UNKNOWN;
    trail->count = 0;
}

/* The thread stands still for itself: it is in a probe, so its frames further out do not change.
 * The anchor is where the JVM has stored the last Java frame before it called native code. A leaf
 * call has no anchor of its own, which is why stacks are taken by native probes only.
 *
 * The count of unloaded classes is part of the key. A frame's hash contains the class's address,
 * which can come to mean another class; the JVM counts an unloading before it frees the memory, so
 * keys of before are never found again. `is_end` is part of it, too: a stack that ends after n
 * frames and one that goes on are different. */
bool frame_walk(struct frame_walker *walker, JNIEnv *jni, const struct frame_limit *limit,
                struct stack_key *key, struct frame_trail *trail)
{
    const struct vm_structs *vm = walk.vm;
    struct machine_frame frame;
    uintptr_t here = (uintptr_t) __builtin_frame_address(0);
    uintptr_t thread = (uintptr_t) jni - (uintptr_t) walk.environment_offset; /* the JavaThread */
    /* A virtual thread's frames may continue in the heap. */
    if (vm->thread_continuation != 0 && vm_word(thread, vm->thread_continuation) != 0)
        return false;
    if (!from_anchor(vm, thread + vm->thread_anchor, &frame) ||
        !anchored_is_sound(walker, here, &frame))
        return false;
    struct frame_hash hash = {0};
    bool is_end = false;
    uint64_t unloaded = (uint64_t) (*walk.unloaded + *walk.shared_unloaded);
    walker->trail = trail;
    if (trail != NULL)
        trail_begin(trail, limit, unloaded);
    if (!walk_frames(walker, &frame, limit, unloaded, &hash, &is_end))
        return false;
    key->low = step_hash_join(step_hash_join(hash.low, hash.count), unloaded << 1 | is_end);
    key->high = step_hash_join(step_hash_join(hash.high, unloaded << 1 | is_end), hash.count);
    key->low = step_hash_join(key->low, limit->salt);
    key->high = step_hash_join(key->high, ~limit->salt);
    return true;
}

size_t frame_walk_methods(struct frame_walker *walker, const struct trail_frame *frame,
                          struct walked_method methods[FRAMES_INLINED_MOST])
{
    struct code_frame list[FRAMES_INLINED_MOST];
    if (frame->pc == 0) {
        methods[0] = (struct walked_method){frame->hash, frame->index};
        return 1;
    }
    size_t count = code_place_methods(walk.vm, place_by_address(walker, frame->pc), list);
    for (size_t i = 0; i < count; i++)
        methods[i] = (struct walked_method){frame_hash_of(walk.vm, list[i].method, list[i].index),
                                            list[i].index};
    return count == frame->hash.count ? count : 0;
}
