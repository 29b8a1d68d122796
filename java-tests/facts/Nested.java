// SPDX-License-Identifier: Apache-2.0
package facts;

/** Constructors that create objects of their own class, and objects that many constructors make. Each
 * object is made in a line that says `new` and its class. */
public class Nested {
    static volatile Object sink;

    static class Node {
        final Object left, right;
        Node(int depth) {
            left = depth > 0 ? new Node(depth - 1) : null;
            right = depth > 0 ? new Node(depth - 1) : null;
        }
    }

    static class Pair {
        Object other;
        Pair(Object other) {
            this.other = other;
        }
        Pair() {
            this(new Pair(null));
        }
    }

    static class Ladder {
        Ladder() { this(1); }
        Ladder(int a) { this(a, 2); }
        Ladder(int a, int b) { this(a, b, 3); }
        Ladder(int a, int b, int c) { this(a, b, c, 4); }
        Ladder(int a, int b, int c, int d) { this(a, b, c, d, 5); }
        Ladder(int a, int b, int c, int d, int e) { this(a, b, c, d, e, 6); }
        Ladder(int a, int b, int c, int d, int e, int f) { this(a, b, c, d, e, f, 7); }
        Ladder(int a, int b, int c, int d, int e, int f, int g) { sink = null; }
    }

    static void tree() {
        sink = new Node(3);
    }

    static void pair() {
        sink = new Pair();
    }

    static void ladder() {
        sink = new Ladder();
    }

    static void below(int depth) {
        if (depth > 0) {
            below(depth - 1);
            return;
        }
        tree();
        pair();
        ladder();
    }

    // 4,096 paths, which end at the bottom of a long stack.
    static class Leaf {}

    static void left(int depth, int path) {
        paths(depth, path);
    }

    static void right(int depth, int path) {
        paths(depth, path);
    }

    static void paths(int depth, int path) {
        if (depth > 12)
            paths(depth - 1, path);
        else if (depth == 0)
            sink = new Leaf();
        else if ((path >> depth - 1 & 1) == 0)
            left(depth - 1, path);
        else
            right(depth - 1, path);
    }

    public static void main(String[] words) {
        if (words.length > 0)
            for (int path = 0; path < 4096; path++) paths(150, path);
        for (int i = 0; i < 100; i++) below(20);
        System.out.println("done");
    }
}
