/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the output that both checkers have in common. */
#include "converter/verbs/check_run.h"

bool check_run_prints(struct check_run *run)
{
    bool prints = run->printed < run->limit;
    run->printed += prints;
    return prints;
}

void check_run_put_verdict(struct check_run *run, const char *verdict, uint64_t count,
                           uint64_t breaches)
{
    json_end_array(run->json);
    json_text(run->json, "verdict", verdict);
    json_number(run->json, "count", count);
    json_number(run->json, "breach_count", breaches);
}
