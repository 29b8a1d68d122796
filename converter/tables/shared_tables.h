/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reference-counted trace with a lock, for owners in several threads.  A trace may be used by
 * only one thread at a time, so each use must hold the lock.
 */
#ifndef CONVERTER_TABLES_SHARED_TABLES_H
#define CONVERTER_TABLES_SHARED_TABLES_H

#include "converter/tables/table.h"

struct shared_tables;

/* Opens a trace like tables_open().  The caller owns the first reference. */
enum step_status shared_tables_open(const char *path, struct shared_tables **out,
                                    struct step_error *error);
struct shared_tables *shared_tables_hold(struct shared_tables *shared);
/* Drops a reference; the last one closes the trace.  `shared` may be NULL. */
void shared_tables_release(struct shared_tables *shared);

/* Locks the trace for exclusive use until shared_tables_unlock(). */
struct tables *shared_tables_lock(struct shared_tables *shared);
void shared_tables_unlock(struct shared_tables *shared);
/* Returns the trace without locking it, for reading what is constant while it is open: its
 * tables. */
const struct tables *shared_tables_borrow(const struct shared_tables *shared);

#endif
