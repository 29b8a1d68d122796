/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a trace: producer FILE.  net_trace.h is made by `stepc --c net_trace net.step`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "net_trace.h"

static struct step_bytes text(const char *string)
{
    return (struct step_bytes){(const uint8_t *) string, strlen(string)};
}

int main(int argc, char **argv)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct step_writer *writer = NULL;
    uint64_t here, there;
    if (argc != 2 || net_trace_create(argv[1], &writer, &error) != STEP_STATUS_OK) {
        fprintf(stderr, "producer: %s\n", argc != 2 ? "usage: producer FILE" : error.message);
        return 1;
    }
    struct net_host hosts[] = {{.name = text("here")}, {.name = text("there")}};
    net_host_define(writer, &hosts[0], &here);
    net_host_define(writer, &hosts[1], &there);

    for (uint64_t i = 0; i < 1000; i++) {
        struct net_packet packet = {.time = i * 10, .from = here, .to = there, .bytes = 1500};
        net_packet_put(writer, 0, &packet);
    }
    /* Strings in an array are pointers to their bytes. */
    struct step_bytes flags[] = {text("SYN"), text("ACK")};
    uint64_t slots[] = {step_slot_of_bytes(&flags[0]), step_slot_of_bytes(&flags[1])};
    struct net_tcp tcp = {
        .time = 10000, .from = there, .to = here, .bytes = 40, .port = 443, .flags = {slots, 2}};
    net_tcp_put(writer, 0, &tcp);
    net_lost_put(writer, 0, &(struct net_lost){.time = 10001, .bytes = 1500});

    /* A writer keeps its first error, so that only closing needs to be looked at. */
    if (step_writer_close(writer, &error) != STEP_STATUS_OK) {
        fprintf(stderr, "producer: %s\n", error.message);
        step_writer_destroy(writer);
        return 1;
    }
    step_writer_destroy(writer);
    return 0;
}
