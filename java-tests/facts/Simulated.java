// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=none
package facts;

import java.util.ArrayDeque;

/** Four ways to keep objects, the same in each run; tests/jvm/simulate_cases.py has what a collector makes of them. */
public class Simulated {
    static class Node {
        Node left, right;
    }

    static int seed = 12345;
    static Object[] window = new Object[20000];
    static ArrayDeque<byte[]> queue = new ArrayDeque<>();
    static Node[] trees = new Node[24];
    static long sum;

    static int next(int most) {
        seed = seed * 1103515245 + 12345;
        return (seed >>> 8) % most;
    }

    static byte[] make() {
        byte[] bytes = new byte[16 + next(200)];
        sum += bytes.length;
        return bytes;
    }

    /** One of four objects takes a random place of a window: ages of all lengths. */
    static void window(int count) {
        for (int i = 0; i < count; i++) {
            byte[] bytes = make();
            if ((i & 3) == 0)
                window[next(window.length)] = bytes;
        }
    }

    /** One of two objects waits in a queue: they die in the order of their births, at one age. */
    static void queue(int count) {
        for (int i = 0; i < count; i++) {
            byte[] bytes = make();
            if ((i & 1) == 0)
                queue.add(bytes);
            if (queue.size() > 12000)
                sum += queue.remove()[0];
        }
    }

    static Node grow(int depth) {
        Node node = new Node();
        if (depth > 0) {
            node.left = grow(depth - 1);
            node.right = grow(depth - 1);
        }
        return node;
    }

    /** Trees that die whole, most of them soon. */
    static void trees(int count) {
        for (int i = 0; i < count; i++) {
            Node tree = grow(10);
            if (i % 3 == 0)
                trees[next(trees.length)] = tree;
        }
    }

    /** One of two objects is kept to the end. */
    static void peak(int count) {
        for (int i = 0; i < count; i++) {
            byte[] bytes = make();
            if ((i & 1) == 0)
                queue.add(bytes);
        }
    }

    public static void main(String[] words) {
        int count = Integer.parseInt(words[1]);
        switch (words[0]) {
        case "window":
            window(count);
            break;
        case "queue":
            queue(count);
            break;
        case "peak":
            peak(count);
            break;
        default:
            trees(count);
        }
        System.out.println(sum);
    }
}
