/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces this folder in builds without SQLite. */
#include "analyses/tables/sql/sql_run.h"
#include "converter/cli/error_report.h"

enum step_status sql_run(const struct sql_run *run)
{
    (void) run;
    report_line("this build has no SQLite (build it with Debian's libsqlite3-dev)");
    return STEP_STATUS_UNSUPPORTED;
}
