// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=all
// FACT: alloc [Lfacts/EarlyArrays$Element; 909
// FACT: alloc [[Lfacts/EarlyArrays$Element; 303
// FACT: alloc [[[Lfacts/EarlyArrays$Element; 101
package facts;

/** Few and small objects: they fit into what the main thread was given before the trace began. */
public class EarlyArrays {
    static class Element {}

    static volatile Object sink;

    public static void main(String[] args) {
        for (int i = 0; i < 101; i++) {
            sink = new Element[2][3][4];
            sink = new Element[4];
            sink = new Element[2][4];
        }
    }
}
