// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=all driver=histogram
package facts;

import java.util.ArrayList;
import java.util.List;

/** Waits while jmap counts what lives; the trace must have the same. */
public class Histogram {
    static class Kept { int a; Object b; }
    static class Half { long[] data = new long[3]; }
    static class Gone {}
    static class Before {}

    static List<Object> kept = new ArrayList<>();
    static volatile Object sink;

    static void fill() {
        for (int i = 0; i < 7000; i++)
            kept.add(new Kept());
        for (int i = 0; i < 3000; i++) {
            sink = new Half();
            if (i % 3 == 0)
                kept.add(sink);
            sink = new Gone();
        }
        for (int i = 0; i < 40; i++)
            kept.add(new Kept[i][2]);
        sink = new Before();
    }

    public static void main(String[] args) {
        fill();
        Support.collect();
        Support.meet("ready");
        System.out.println(kept.size());
    }
}
