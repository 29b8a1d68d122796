/* SPDX-License-Identifier: Apache-2.0 */
/* Entry point of libtracer.so when the loader runs it as a program (capture/writer_process.h). It
 * does what a compiler's start file does for one. Nothing in a JVM calls it. */
#include <stdint.h>

#include "capture/writer_process.h"

#ifdef __x86_64__
#define START_VERSION "GLIBC_2.2.5"
__asm__(".text\n.globl writer_entry\n.hidden writer_entry\n.type writer_entry, @function\n"
        "writer_entry:\n"
        "xor %ebp, %ebp\n"
        "mov %rsp, %rdi\n"
        "and $-16, %rsp\n"
        "call writer_entry_at\n"
        "hlt\n"
        ".size writer_entry, .-writer_entry\n");
#else
#define START_VERSION "GLIBC_2.17"
__asm__(".text\n.globl writer_entry\n.hidden writer_entry\n.type writer_entry, %function\n"
        "writer_entry:\n"
        "mov x29, #0\n"
        "mov x30, #0\n"
        "mov x0, sp\n"
        "bl writer_entry_at\n"
        "brk #0\n"
        ".size writer_entry, .-writer_entry\n");
#endif

extern int start_main(int (*main)(int, char **), int count, char **arguments, void (*begin)(void),
                      void (*end)(void), void (*loader_end)(void), void *stack_end);
__asm__(".symver start_main, __libc_start_main@" START_VERSION);

/* `stack` is as the kernel sets it up: the number of arguments, then the arguments. */
__attribute__((used, visibility("hidden"))) void writer_entry_at(uintptr_t *stack);
void writer_entry_at(uintptr_t *stack)
{
    start_main(writer_process_main, (int) stack[0], (char **) (stack + 1), NULL, NULL, NULL, stack);
}
