/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An opened trace that several owners hold, in several threads: a reference each, and a lock around
 * each use, as a trace is used by one thread at a time.
 */
#ifndef CONVERTER_TABLES_SHARED_TABLES_H
#define CONVERTER_TABLES_SHARED_TABLES_H

#include "converter/tables/table.h"

struct shared_tables;

/* As tables_open(); the caller has the first reference. */
enum step_status shared_tables_open(const char *path, struct shared_tables **out,
                                    struct step_error *error);
struct shared_tables *shared_tables_hold(struct shared_tables *shared);
/* The last reference closes the trace; NULL is allowed. */
void shared_tables_release(struct shared_tables *shared);

/* The trace, for the caller alone until shared_tables_unlock(). */
struct tables *shared_tables_lock(struct shared_tables *shared);
void shared_tables_unlock(struct shared_tables *shared);
/* What never changes while the trace is open may be read without the lock: its tables. */
const struct tables *shared_tables_borrow(const struct shared_tables *shared);

#endif
