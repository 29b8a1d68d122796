// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=all vm=-Xmx48m exit=1
// FACT: alloc facts/OutOfMemory$After 100
package facts;

import java.util.ArrayList;
import java.util.List;

/** The heap is full, twice caught, and then it ends the program. */
public class OutOfMemory {
    static class Chunk { long[] data = new long[20_000]; }
    static class After {}

    static volatile Object sink;

    static int fill() {
        List<Chunk> chunks = new ArrayList<>(1000);
        int made = 0;
        try {
            while (true) {
                chunks.add(new Chunk());
                made++;
            }
        } catch (OutOfMemoryError e) {
            chunks.clear();
        }
        return made;
    }

    public static void main(String[] args) {
        int made = fill();
        made += fill();
        Support.fact("alloc facts/OutOfMemory$Chunk " + made + ".." + (made + 2));
        for (int i = 0; i < 100; i++)
            sink = new After();
        System.out.println("caught, and once more");
        sink = new long[1 << 28];
    }
}
