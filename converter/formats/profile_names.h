/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of profiles (pprof, OTLP): their names and source files. */
#ifndef CONVERTER_FORMATS_PROFILE_NAMES_H
#define CONVERTER_FORMATS_PROFILE_NAMES_H

#include "converter/heap/heap_sites.h"
#include "format/core/bytes.h"

/* Puts "java/util/HashMap.newNode" in place of the buffer's content.  Returns false if memory runs
 * out. */
bool profile_function_name(const struct trace_names *names, uint32_t method_id,
                           struct step_buffer *out);
/* Sets `path` to the source file of a place in the method, or "".  Returns true if it is another
 * file than the class's, which a source map can say: the place is then a function of its own. */
bool profile_place_path(const struct trace_names *names, uint32_t method_id,
                        const struct frame_place *place, char path[HEAP_SITE_TEXT]);

#endif
