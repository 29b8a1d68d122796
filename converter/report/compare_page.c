/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a comparison's data between the fixed parts of its page. */
#include "converter/report/compare_page.h"

#include "converter/report/page_file.h"
#include "converter/report/report_page.h"

static bool put_data(const void *user, FILE *out)
{
    return compare_put_page_data(user, out);
}

enum step_status compare_page_write(const char *path, const struct compare_report *report,
                                    struct step_error *error)
{
    const struct page_parts parts = {
        .before = compare_page_parts_before,
        .before_bytes = compare_page_parts_before_bytes,
        .after = compare_page_parts_after,
        .after_bytes = compare_page_parts_after_bytes,
    };
    return page_file_write(path, &parts, put_data, report, error);
}
