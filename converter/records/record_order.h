/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Returns the selected records of a trace in order of time.  Within a tick of a Java trace,
 * definitions and class loads come first, and frees last (docs/formats/java.md).
 */
#ifndef CONVERTER_RECORDS_RECORD_ORDER_H
#define CONVERTER_RECORDS_RECORD_ORDER_H

#include "steptrace/records.h"

struct record_order;

/* Both arguments are borrowed. */
enum step_status record_order_create(struct step_reader *reader, struct step_selection *selection,
                                     struct record_order **out, struct step_error *error);
/* Returns the next record, or END.  Its slots are valid until the next call. */
enum step_status record_order_next(struct record_order *order, struct step_record_view *view,
                                   struct step_error *error);
/* `order` may be NULL. */
void record_order_destroy(struct record_order *order);

#endif
