/* SPDX-License-Identifier: Apache-2.0 */
/* Writes totals as CSV: a row for each class and layout. */
#include <inttypes.h>

#include "converter/base/csv_output.h"
#include "converter/layout/layout_totals.h"

void layout_print_csv(const struct layout_totals *totals, FILE *out)
{
    fputs("class,layout,header,reference,alignment,objects,bytes,error\n", out);
    for (size_t row = 0; row < totals->row_count; row++) {
        for (size_t i = 0; i < totals->layout_count; i++) {
            const struct object_layout *layout = &totals->layouts[i];
            csv_put_text(totals->rows[row].name, out);
            fputc(',', out);
            csv_put_text(step_text(layout->name), out);
            fprintf(out,
                    ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
                    layout->header, layout->reference, layout->alignment, totals->rows[row].objects,
                    totals->rows[row].bytes[i], totals->rows[row].errors[i]);
        }
    }
}
