/* SPDX-License-Identifier: Apache-2.0 */
/* Sends a file to an HTTP server of this machine, such as an OpenTelemetry collector. */
#ifndef CONVERTER_OUTPUT_HTTP_POST_H
#define CONVERTER_OUTPUT_HTTP_POST_H

#include <stdbool.h>
#include <stdint.h>

#include "steptrace/status.h"

/* Returns whether an output is a URL. */
bool http_is_url(const char *output);
/* Returns IO if the URL is not http://HOST:PORT/PATH with a loopback address: 127.0.0.1,
 * [::1] or localhost. */
enum step_status http_check_url(const char *url, struct step_error *error);
/* Sends `size` bytes of a file as the body of a request, and waits 30 s at most for each step and 4
 * min for all. Returns IO unless the server accepts all of it: its answer has a status of 2xx, and,
 * if a body, then no partial success as OTLP defines it. */
enum step_status http_post(const char *url, const char *type, int file, uint64_t size,
                           struct step_error *error);

#endif
