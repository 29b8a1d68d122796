// SPDX-License-Identifier: Apache-2.0
/** A program whose allocations are known: N nodes, N / 4 arrays, of which every hundredth node lives to the end. */
public class KnownObjects {
    static final class Node {
        Node next;
        int value;
    }

    static volatile Object sink; // what is stored here cannot be left out

    static Node make(Node next, int value) {
        Node node = new Node();
        node.next = next;
        node.value = value;
        return node;
    }

    public static void main(String[] arguments) {
        int count = Integer.parseInt(arguments[0]);
        Node kept = null;
        for (int i = 0; i < count; i++) {
            Node node = make(i % 100 == 0 ? kept : null, i);
            sink = node;
            if (i % 100 == 0)
                kept = node;
            if (i % 4 == 0)
                sink = new short[i / 4 % 64 * 4];
        }
        System.out.println(kept.value);
    }
}
