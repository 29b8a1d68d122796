/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wanted records of a trace in its order: by time; in a Java trace, of one tick, definitions
 * and class loads come first and frees last, as docs/formats/java.md says.
 */
#ifndef CONVERTER_RECORDS_RECORD_ORDER_H
#define CONVERTER_RECORDS_RECORD_ORDER_H

#include "steptrace/records.h"

struct record_order;

/* Both are borrowed. */
enum step_status record_order_create(struct step_reader *reader, struct step_selection *selection,
                                     struct record_order **out, struct step_error *error);
/* The next record, or END; its slots live until the next call. */
enum step_status record_order_next(struct record_order *order, struct step_record_view *view,
                                   struct step_error *error);
/* Accepts NULL. */
void record_order_destroy(struct record_order *order);

#endif
