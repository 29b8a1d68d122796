/* SPDX-License-Identifier: Apache-2.0 */
/* Reads traces of the newer definition, and of the older one, whose records lack fields:
 * consumer2 FILE. */
#include <inttypes.h>
#include <stdio.h>

#include "net2_trace.h"

/* What a Frame maps to is a Transfer as well; traces of the older definition have neither. */
static void print_transfers(struct net2_trace_reader *in)
{
    static const char *const names[] = {"net.Transfer"};
    struct step_record_view view;
    struct net_transfer transfer;
    if (net2_trace_ask(in, names, 1, true, NULL) != STEP_STATUS_OK)
        printf("no transfers\n");
    while (net2_trace_next(in, &view, NULL) == STEP_STATUS_OK)
        if (net_transfer_get(&in->binding, &view, &transfer))
            printf("transfer of %" PRIu64 " bytes\n", transfer.bytes);
}

int main(int argc, char **argv)
{
    struct step_error error = {.offset = STEP_NO_OFFSET};
    struct net2_trace_reader in;
    struct step_record_view view;
    uint64_t events = 0, packets = 0, bytes = 0, ttl = 0, udp_packets = 0;
    if (argc != 2 || net2_trace_open(argv[1], &in, &error) != STEP_STATUS_OK) {
        fprintf(stderr, "consumer2: %s\n", argc != 2 ? "usage: consumer2 FILE" : error.message);
        return 1;
    }
    while (net2_trace_next(&in, &view, &error) == STEP_STATUS_OK) {
        struct net_event event;
        struct net_packet packet;
        struct net_udp udp;
        struct net_tcp tcp;
        events += net_event_get(&in.binding, &view, &event);
        if (net_packet_get(&in.binding, &view, &packet)) {
            packets++;
            bytes += packet.bytes;
            ttl += packet.ttl; /* 0 where the file has none */
        }
        udp_packets += net_udp_get(&in.binding, &view, &udp);
        if (net_tcp_get(&in.binding, &view, &tcp))
            printf("port %" PRIu64 ", %zu flags\n", tcp.port, tcp.flags.count);
    }
    printf("%" PRIu64 " events, %" PRIu64 " packets (%" PRIu64 " of UDP), %" PRIu64
           " bytes, ttl %" PRIu64 "\n",
           events, packets, udp_packets, bytes, ttl);
    print_transfers(&in);
    if (net2_trace_close(&in) == STEP_STATUS_OK)
        return 0;
    fprintf(stderr, "consumer2: %s\n", error.message);
    return 1;
}
