/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel grants membarrier() at load and refuses it later, as under a seccomp filter that the
 * program sets: probes get fences, objects are not looked at any more. */
#include <CUnit/Basic.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "agent/records/hold.h"
#include "tests/unit/run_suite.h"

struct tracer tracer; /* else that of the entry points */

static struct session session = {.number = 1, .holds = true};

static bool refuse_membarrier(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof filter / sizeof filter[0], .filter = filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void test_refused_later(void)
{
    struct os_thread *os;
    threads_initialize();
    atomic_store(&session.quick_methods, true);
    atomic_store(&session.quick_objects, true);
    atomic_store(&tracer.session, &session);
    if (probes_need_fence || !refuse_membarrier()) {
        puts("skipped: this kernel has no membarrier(), or no seccomp filters");
        return;
    }
    CU_ASSERT_PTR_NOT_NULL_FATAL(probe_enter(&os));
    holds_allow(true);
    CU_ASSERT_TRUE(hold_begin(os));
    hold_end(os);
    CU_ASSERT_TRUE(holds_are_good(&session));
    holds_wait();
    holds_go_on();
    CU_ASSERT_TRUE(probes_need_fence);
    CU_ASSERT_FALSE_FATAL(hold_begin(os));
    CU_ASSERT_FALSE(holds_are_good(&session));
    holds_allow(false);
    holds_allow(true);
    CU_ASSERT_FALSE_FATAL(hold_begin(os));
    probe_leave(os);
}

void add_suite(void)
{
    CU_pSuite suite = CU_add_suite("barrier", NULL, NULL);
    CU_add_test(suite, "refused later", test_refused_later);
}
