/* SPDX-License-Identifier: Apache-2.0 */
/* In place of the rest of the folder, where there is no SQLite. */
#include "converter/base/error_report.h"
#include "converter/tables/sql/sql_run.h"

enum step_status sql_run(const struct sql_run *run)
{
    (void) run;
    report_line("this build has no SQLite: Debian's libsqlite3-dev was not there");
    return STEP_STATUS_UNSUPPORTED;
}
