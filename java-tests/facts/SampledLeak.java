// SPDX-License-Identifier: Apache-2.0
package facts;

/**
 * A list that grows, a cache whose entries are replaced, and objects that die, with a collection each
 * round, for engine=sampled.  A large array, which is surely sampled, follows each collection: JDK 17
 * counts the rest of a TLAB for the object after it.  tests/jvm/sampled_cases.py knows the numbers.
 */
public class SampledLeak {
    static class Node { Node next; long a, b; }
    static class Entry { long a, b, c, d; }
    static class Dropped { long a; }

    static final int ROUNDS = 16, NODES = 4_000, ENTRIES = 20_000, REPLACED = 2_000, DROPPED = 30_000;
    static final Entry[] cache = new Entry[ENTRIES];
    static Node head;
    static volatile Object sink;

    static void grow() {
        for (int i = 0; i < NODES; i++) {
            Node node = new Node();
            node.next = head;
            head = node;
        }
    }

    static void replace(int first, int count) {
        for (int i = 0; i < count; i++)
            cache[(first + i) % ENTRIES] = new Entry();
    }

    static void drop() {
        for (int i = 0; i < DROPPED; i++)
            sink = new Dropped();
    }

    public static void main(String[] args) {
        Support.passFirstSample();
        replace(0, ENTRIES);
        for (int round = 0; round < ROUNDS; round++) {
            grow();
            replace(round * REPLACED, REPLACED);
            drop();
            sink = null;
            System.gc();
            sink = new float[1 << 18];
        }
        System.out.println(head.a + cache.length);
    }
}
