/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces this folder in builds without SQLite. */
#include "converter/base/error_report.h"
#include "converter/tables/sql/sql_run.h"

enum step_status sql_run(const struct sql_run *run)
{
    (void) run;
    report_line("this build has no SQLite (build it with Debian's libsqlite3-dev)");
    return STEP_STATUS_UNSUPPORTED;
}
