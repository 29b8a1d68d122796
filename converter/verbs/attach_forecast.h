/* SPDX-License-Identifier: Apache-2.0 */
/* attach --dry-run: what an attach would cost the JVM. */
#ifndef CONVERTER_VERBS_ATTACH_FORECAST_H
#define CONVERTER_VERBS_ATTACH_FORECAST_H

#include <stdio.h>

#include "converter/attach/jvm_process.h"
#include "converter/verbs/recording_options.h"

/* Asks the JVM for the number of its classes, and prints this and the estimates that follow.  Loads
 * no agent and changes nothing.  Returns IO, with an error, if the JVM does not answer. */
enum step_status attach_forecast_print(FILE *out, const struct jvm_process *process,
                                       const struct recording_options *options,
                                       struct step_error *error);

#endif
