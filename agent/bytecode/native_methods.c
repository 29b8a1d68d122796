/* SPDX-License-Identifier: Apache-2.0 */
/* Stubs of native methods, for x86-64; on other machines native methods have no events. */
#include "agent/bytecode/native_methods.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/base/exceptions.h"
#include "agent/base/internals.h"
#include "agent/base/jvm_classes.h"
#include "agent/bytecode/method_events.h"
#include "agent/records/method_counts.h"
#include "agent/records/methods.h"
#include "agent/rewriter/rewrite.h"
#include "capture/apart.h"
#include "capture/log.h"
#include "format/core/grow.h"

#if defined(__x86_64__)

#define STUB_BYTES 32u
/* Linux' asm/prctl.h, since 6.6 */
#define ARCH_SHSTK_STATUS 0x5005
#define SHADOW_STACK 1u
#define REGION_BYTES 65536u

/* Data that a stub passes on. */
struct native_method {
    void *code;
    jmethodID method;
    uint32_t number;
    bool is_static;
};

/* The return address of running native code, and its place on the stack; the last one entered is
 * last. */
struct native_frame {
    uintptr_t return_address;
    const uintptr_t *return_slot;
    const struct native_method *method;
    JNIEnv *jni;
};

static __thread struct native_stack {
    struct native_frame *frames;
    size_t depth, capacity;
} stack __attribute__((tls_model("initial-exec")));

/* Stubs are written through one mapping and executed in another. */
static pthread_mutex_t stub_lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *stub_writable, *stub_runnable;
static size_t stub_used;

void native_method_stub(void);
void native_method_return(void);
void *native_method_entered(const struct native_method *method, uintptr_t *return_slot, JNIEnv *jni,
                            jobject receiver);
uintptr_t native_method_left(const uintptr_t *return_slot);

/* The stub has put its method into r11 and preserved all arguments. The second part is where the
 * native code believes its caller to be. */
__asm__(".text\n"
        ".hidden native_method_stub\n.globl native_method_stub\n"
        ".type native_method_stub, @function\n"
        "native_method_stub:\n"
        "  push %rbp\n  mov %rsp, %rbp\n"
        "  push %rdi\n  push %rsi\n  push %rdx\n  push %rcx\n  push %r8\n  push %r9\n"
        "  sub $144, %rsp\n"
        "  movups %xmm0, 0(%rsp)\n  movups %xmm1, 16(%rsp)\n"
        "  movups %xmm2, 32(%rsp)\n  movups %xmm3, 48(%rsp)\n"
        "  movups %xmm4, 64(%rsp)\n  movups %xmm5, 80(%rsp)\n"
        "  movups %xmm6, 96(%rsp)\n  movups %xmm7, 112(%rsp)\n"
        "  mov %rsi, %rcx\n  mov %rdi, %rdx\n  lea 8(%rbp), %rsi\n  mov %r11, %rdi\n"
        "  call native_method_entered\n"
        "  mov %rax, %r11\n"
        "  movups 0(%rsp), %xmm0\n  movups 16(%rsp), %xmm1\n"
        "  movups 32(%rsp), %xmm2\n  movups 48(%rsp), %xmm3\n"
        "  movups 64(%rsp), %xmm4\n  movups 80(%rsp), %xmm5\n"
        "  movups 96(%rsp), %xmm6\n  movups 112(%rsp), %xmm7\n"
        "  add $144, %rsp\n"
        "  pop %r9\n  pop %r8\n  pop %rcx\n  pop %rdx\n  pop %rsi\n  pop %rdi\n  pop %rbp\n"
        "  jmp *%r11\n"
        ".size native_method_stub, . - native_method_stub\n"
        ".hidden native_method_return\n.globl native_method_return\n"
        ".type native_method_return, @function\n"
        "native_method_return:\n"
        "  sub $48, %rsp\n"
        "  mov %rax, 0(%rsp)\n  mov %rdx, 8(%rsp)\n  movups %xmm0, 16(%rsp)\n"
        "  lea 40(%rsp), %rdi\n"
        "  call native_method_left\n"
        "  mov %rax, 40(%rsp)\n"
        "  mov 0(%rsp), %rax\n  mov 8(%rsp), %rdx\n  movups 16(%rsp), %xmm0\n"
        "  add $40, %rsp\n"
        "  ret\n"
        ".size native_method_return, . - native_method_return\n");

static bool native_methods_push(const struct native_method *method, const uintptr_t *return_slot,
                                JNIEnv *jni)
{
    if (!STEP_MAKE_ROOM(stack.frames, stack.capacity, stack.depth + 1))
        return false;
    stack.frames[stack.depth++] = (struct native_frame){*return_slot, return_slot, method, jni};
    return true;
}

/* Returns the frame whose return address is at that place. Usually it is the last one that was
 * entered. A library that switches stacks (ucontext, fibres) leaves calls in another order: each is
 * identified by its place on its stack. If it was entered on another native thread, the address to
 * return to is unknown here, and nothing but ending the process is left; the message says why. */
static struct native_frame native_methods_pop(const uintptr_t *return_slot)
{
    size_t at = stack.depth;
    while (at > 0 && stack.frames[at - 1].return_slot != return_slot)
        at--;
    if (at == 0) { /* entered on another native thread: it cannot return */
        log_message("a native method returns on another thread than it was called on");
        abort();
    }
    struct native_frame frame = stack.frames[at - 1];
    memmove(&stack.frames[at - 1], &stack.frames[at], (stack.depth - at) * sizeof stack.frames[0]);
    stack.depth--;
    return frame;
}

void native_methods_thread_ended(struct os_thread *os)
{
    (void) os;
    free(stack.frames);
    stack.frames = NULL;
    stack.depth = stack.capacity = 0;
}

/* Returns the native code to continue with.
 *
 * Records the entry and lets the native code return through the agent. The return address is
 * replaced only if the old one could be stored: without it the call could not return. The probe is
 * left before the native code runs, which may take for ever; the session may end meanwhile, and the
 * return then finds none, or another one in which this frame is not on the shadow stack. */
__attribute__((visibility("hidden"))) void *native_method_entered(
    const struct native_method *method, uintptr_t *return_slot, JNIEnv *jni, jobject receiver)
{
    struct os_thread *os;
    struct session *session = internal_is_allowed(INTERNAL_NATIVES) ? probe_enter(&os) : NULL;
    if (session == NULL)
        return method->code;
    if (method_know(session, method->number, method->method) &&
        native_methods_push(method, return_slot, jni)) {
        if (session->options.method == METHOD_COUNT)
            method_counts_entered(session, os, method->number);
        else
            method_entered(session, os, jni, method->number, method->is_static ? NULL : receiver,
                           false);
        *return_slot = (uintptr_t) native_method_return;
    }
    probe_leave(os);
    return method->code;
}

/* Returns the address to return to. */
__attribute__((visibility("hidden"))) uintptr_t native_method_left(const uintptr_t *return_slot)
{
    struct native_frame frame = native_methods_pop(return_slot);
    struct os_thread *os;
    struct session *session = probe_enter(&os);
    if (session != NULL) {
        jthrowable thrown = exception_set_aside(frame.jni);
        enum method_leave how = thrown != NULL ? LEAVE_UNWIND : LEAVE_RETURN;
        if (session->options.method == METHOD_COUNT)
            method_counts_left(session, os, frame.method->number, how);
        else
            method_left(session, os, frame.method->number, how);
        exception_restore(frame.jni, thrown, false, THROWN_BY_NOTHING);
        probe_leave(os);
    }
    return frame.return_address;
}

struct stub_region {
    void *writable, *runnable;
};

static void make_region(void *data)
{
    struct stub_region *region = data;
    int file = memfd_create("steptrace-stubs", MFD_CLOEXEC);
    if (file >= 0 && ftruncate(file, REGION_BYTES) == 0) {
        region->writable = mmap(NULL, REGION_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        region->runnable = mmap(NULL, REGION_BYTES, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
    }
    if (file >= 0)
        close(file);
}

static bool map_stubs(void)
{
    struct stub_region region = {MAP_FAILED, MAP_FAILED};
    apart_run(make_region, &region);
    if (region.writable == MAP_FAILED || region.runnable == MAP_FAILED)
        return false;
    stub_writable = region.writable;
    stub_runnable = region.runnable;
    stub_used = 0;
    return true;
}

/* mov $method, %r11; mov $native_method_stub, %rax; jmp *%rax
 *
 * A stub is written once and never freed: the JVM has its address for as long as the class lives,
 * and native code may run below it after the session's end. It is written through a mapping that
 * cannot be executed, since many systems refuse memory that can be both written and executed.
 * Nothing executes it before the JVM has got its address. */
static void *make_stub(const struct native_method *method)
{
    uint8_t stub[STUB_BYTES] = {0x49, 0xbb, 0, 0, 0, 0, 0, 0, 0, 0, 0x48, 0xb8};
    uintptr_t data = (uintptr_t) method, target = (uintptr_t) native_method_stub;
    memcpy(stub + 2, &data, sizeof data);
    memcpy(stub + 12, &target, sizeof target);
    stub[20] = 0xff;
    stub[21] = 0xe0;
    void *made = NULL;
    pthread_mutex_lock(&stub_lock);
    if ((stub_writable != NULL && stub_used + STUB_BYTES <= REGION_BYTES) || map_stubs()) {
        memcpy(stub_writable + stub_used, stub, sizeof stub);
        made = stub_runnable + stub_used;
        stub_used += STUB_BYTES;
    }
    pthread_mutex_unlock(&stub_lock);
    return made;
}

static bool is_no_probe(const char *signature)
{
    return strcmp(signature, "L" PROBE_CLASS ";") != 0;
}

static void *stub_for(struct session *session, JNIEnv *jni, jmethodID method, void *address)
{
    const struct method_entry *entry = method_lookup(session, method);
    if (entry == NULL || !entry->is_traced || entry->id == 0 ||
        !method_owner_passes(jni, method, is_no_probe))
        return NULL;
    struct native_method *native = calloc(1, sizeof *native);
    if (native == NULL)
        return NULL;
    *native = (struct native_method){address, method, method_new_number(), entry->is_static};
    void *stub = native->number != 0 ? make_stub(native) : NULL;
    if (stub == NULL)
        free(native);
    return stub;
}

void JNICALL native_methods_on_bind(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jmethodID method,
                                    void *address, void **new_address)
{
    struct os_thread *os;
    (void) jvmti, (void) thread;
    struct session *session = probe_enter(&os);
    if (session == NULL)
        return;
    void *stub = stub_for(session, jni, method, address);
    if (stub != NULL) {
        *new_address = stub;
        internal_settled(INTERNAL_NATIVES, NULL);
    }
    probe_leave(os);
}

/* A shadow stack accepts no other return address. */
static bool has_shadow_stack(void)
{
    unsigned long features = 0;
    return syscall(SYS_arch_prctl, ARCH_SHSTK_STATUS, &features) == 0 &&
           (features & SHADOW_STACK) != 0;
}

bool native_methods_possible(void)
{
    if (!internal_is_allowed(INTERNAL_NATIVES))
        return false;
    if (!has_shadow_stack())
        return true;
    internal_settled(INTERNAL_NATIVES, "the machine's shadow stack is on");
    return false;
}

#else

void native_methods_thread_ended(struct os_thread *os)
{
    (void) os;
}

bool native_methods_possible(void)
{
    internal_settled(INTERNAL_NATIVES, "known for x86-64 only");
    return false;
}

void JNICALL native_methods_on_bind(jvmtiEnv *jvmti, JNIEnv *jni, jthread thread, jmethodID method,
                                    void *address, void **new_address)
{
    (void) jvmti, (void) jni, (void) thread, (void) method, (void) address, (void) new_address;
}

#endif
