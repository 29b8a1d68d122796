/* SPDX-License-Identifier: Apache-2.0 */
/* What run_suite.c runs: each program has one. */
#ifndef RUN_SUITE_H
#define RUN_SUITE_H

void add_suite(void);

#endif
