/* SPDX-License-Identifier: Apache-2.0 */
/* A process that looks like a JVM to `attach`: it has a library libjvm.so mapped, begins its attach
 * listener at SIGQUIT, and gives the answer that the test has chosen. */
#ifndef TESTS_UNIT_CONVERTER_RECORDERS_FAKE_JVM_H
#define TESTS_UNIT_CONVERTER_RECORDERS_FAKE_JVM_H

#include <sys/types.h>

struct fake_jvm {
    const char *answer;   /* to each request */
    const char *messages; /* of the agent, to the client of a request; NULL: it does not connect */
    const char *trace;    /* a file that a `start` copies to that of file= */
    int handles_quit;
    int has_libjvm;
};

/* Starts it, in the scratch directory.  Its JDK says that it is Java 17. */
pid_t fake_jvm_start(const struct fake_jvm *jvm);
void fake_jvm_end(pid_t pid);
/* The requests that it has got: their texts, with blanks between, a line each. */
const char *fake_jvm_requests(void);

#endif
