// SPDX-License-Identifier: Apache-2.0
package facts;

/**
 * Makes objects of one class for a second at least, and keeps each hundredth until 20,000 others are kept. So of each collection's
 * objects one in a hundred survives, and older ones live as well. tests/jvm/eden_cases.py judges it.
 */
public class Steady {
    static class Item { long a; }
    static final int EACH = 100, LEAST = 20_000_000;
    static final Item[] kept = new Item[20_000];
    static volatile Object sink;

    public static void main(String[] arguments) {
        long end = System.nanoTime() + 1_000_000_000;
        for (int i = 0; i < LEAST || System.nanoTime() < end; i++) {
            Item item = new Item();
            sink = item;
            if (i % EACH == 0)
                kept[i / EACH % kept.length] = item;
        }
    }
}
