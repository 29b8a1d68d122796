// SPDX-License-Identifier: Apache-2.0
import java.util.HashMap;
import java.util.Map;

/** Four threads build and drop trees and maps: many small objects, most of them short-lived. */
public class ThreadedChurn {
    static final int THREADS = 4;
    static final int ROUNDS = 60;
    static volatile long sink;

    static final class Node {
        final Node left;
        final Node right;
        final int value;

        Node(Node left, Node right, int value) {
            this.left = left;
            this.right = right;
            this.value = value;
        }
    }

    static Node tree(int depth, int seed) {
        if (depth == 0)
            return new Node(null, null, seed);
        return new Node(tree(depth - 1, seed * 2), tree(depth - 1, seed * 2 + 1), seed);
    }

    static long sum(Node node) {
        return node == null ? 0 : node.value + sum(node.left) + sum(node.right);
    }

    static long work(int seed) {
        long total = 0;
        Map<String, int[]> kept = new HashMap<>();
        for (int round = 0; round < ROUNDS; round++) {
            total += sum(tree(13, seed + round));
            for (int i = 0; i < 4000; i++)
                kept.put("key" + i, new int[] {i, round, seed});
        }
        return total + kept.size();
    }

    public static void main(String[] args) throws InterruptedException {
        Thread[] threads = new Thread[THREADS];
        long[] totals = new long[THREADS];
        for (int i = 0; i < THREADS; i++) {
            int number = i;
            threads[i] = new Thread(() -> totals[number] = work(number));
            threads[i].start();
        }
        for (int i = 0; i < THREADS; i++) {
            threads[i].join();
            sink += totals[i];
        }
        System.out.println(sink);
    }
}
