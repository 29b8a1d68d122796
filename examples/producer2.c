/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a trace of the newer definition: producer2 FILE. */
#include <stdio.h>
#include <string.h>

#include "net2_trace.h"

static struct step_bytes text(const char *string)
{
    return (struct step_bytes){(const uint8_t *) string, strlen(string)};
}

int main(int argc, char **argv)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct step_writer *writer = NULL;
    uint64_t host;
    if (argc != 2 || net2_trace_create(argv[1], &writer, &error) != STEP_STATUS_OK) {
        fprintf(stderr, "producer2: %s\n", argc != 2 ? "usage: producer2 FILE" : error.message);
        return 1;
    }
    net_host_define(writer, &(struct net_host){.name = text("new"), .port = 80}, &host);
    for (uint64_t i = 0; i < 100; i++) {
        struct step_bytes start = text("hello");
        struct net_packet packet = {.time = i, .interface = 1, .ttl = 64, .from = host, .bytes = 9};
        struct net_udp udp = {.time = i, .ttl = 63, .to = host, .bytes = 5, .start = start};
        net_packet_put(writer, 0, &packet);
        net_udp_put(writer, 0, &udp);
    }
    struct step_bytes flag = text("FIN");
    uint64_t slots[] = {step_slot_of_bytes(&flag)};
    net_tcp_put(writer, 0,
                &(struct net_tcp){.time = 100, .from = host, .port = 22, .flags = {slots, 1}});
    net_frame_put(writer, 0, &(struct net_frame){.time = 101, .length = 64, .address = 0xc0ffee});
    net_transfer_put(writer, 0, &(struct net_transfer){.time = 102, .bytes = 1000});
    enum step_status status = step_writer_close(writer, &error);
    if (status != STEP_STATUS_OK)
        fprintf(stderr, "producer2: %s\n", error.message);
    step_writer_destroy(writer);
    return status == STEP_STATUS_OK ? 0 : 1;
}
