/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program as systemd runs a service with SystemCallFilter=@system-service: any other call
 * kills it. The list (system_service.txt) is that of systemd 252. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const unsigned allowed[] = {
#include "system_service.h"
};
#define ALLOWED (sizeof allowed / sizeof allowed[0])

int main(int count, char **words)
{
    static struct sock_filter steps[2 * ALLOWED + 2];
    unsigned short made = 0;
    steps[made++] = (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                                  (unsigned) offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < ALLOWED; i++) {
        steps[made++] = (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i], 0, 1);
        steps[made++] = (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    steps[made++] = (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    const struct sock_fprog filter = {made, steps};
    if (count < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
        perror("seccomp");
        return 98;
    }
    execvp(words[1], words + 1);
    perror(words[1]);
    return 97;
}
