// SPDX-License-Identifier: Apache-2.0
import java.util.Random;

/** Ten allocation sites of different sizes and lifetimes, for sampled_accuracy.py: the same objects in each run. */
public class SampledSites {
    static final class Small { long value; }
    static final class Node { Node next; long[] values; int key; }

    static final int ROUNDS = 100_000, KEPT = 1 << 14;
    static final Object[] kept = new Object[KEPT];
    static final Random random = new Random(1);
    static volatile Object sink; // what is stored here cannot be left out

    static void smallObjects() {
        for (int i = 0; i < 100; i++)
            sink = new Small();
    }

    static void nodes() {
        Node first = null;
        for (int i = 0; i < 20; i++) {
            Node node = new Node();
            node.next = first;
            first = node;
        }
        sink = first;
    }

    static void keptNodes() { kept[random.nextInt(KEPT)] = new Node(); }
    static void bytes() { sink = new byte[random.nextInt(2_000)]; }
    static void keptBytes() { kept[random.nextInt(KEPT)] = new byte[100 + random.nextInt(100)]; }
    static void integers() { sink = new int[64]; }
    static void longs() { sink = new long[random.nextInt(128)]; }
    static void references() { sink = new Object[32]; }
    static void characters() { sink = new char[1 + random.nextInt(400)]; }
    static void large() { sink = new double[20_000 + random.nextInt(80_000)]; }

    public static void main(String[] arguments) {
        for (int round = 0; round < ROUNDS; round++) {
            smallObjects();
            nodes();
            keptNodes();
            bytes();
            keptBytes();
            integers();
            longs();
            references();
            characters();
            if (round % 1_000 == 0)
                large();
        }
        System.out.println(kept.length);
    }
}
