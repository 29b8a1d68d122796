// SPDX-License-Identifier: Apache-2.0
package facts;

/** Holds 4,000 nodes at its end, and has made 100,000 that are garbage. */
public class Garbage {
    static class Node {
        int number;
    }

    static final Object[] held = new Object[4000];

    public static void main(String[] args) {
        for (int i = 0; i < held.length; i++) held[i] = new Node();
        for (int i = 0; i < 100_000; i++) new Node();
        System.out.println(true);
    }
}
