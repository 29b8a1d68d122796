/* SPDX-License-Identifier: Apache-2.0 */
/* What files and sockets have in common. */
#ifndef CONVERTER_CLI_DESCRIPTORS_H
#define CONVERTER_CLI_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>

/* Write all these bytes, to a file or a socket.  Return false and set errno on failure. */
bool output_write_all(int file, const void *data, size_t length);
bool output_send_all(int socket, const void *data, size_t length);
/* Closes a descriptor, -1: none, and keeps errno. */
void close_quietly(int file);

#endif
