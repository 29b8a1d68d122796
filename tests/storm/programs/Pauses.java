// SPDX-License-Identifier: Apache-2.0
// OBJECTS live objects in a tree of arrays, and MEGABYTES of short lived ones besides, for the length of
// collections; -Xlog:gc tells of them.
package storm;

public class Pauses {
    static volatile Object sink;
    static Object[][] kept;

    static final class Small {
        final long value;

        Small(long value) {
            this.value = value;
        }
    }

    public static void main(String[] args) {
        int objects = Integer.parseInt(args[0]), megabytes = Integer.parseInt(args[1]);
        kept = new Object[(objects + 999) / 1000][];
        for (int i = 0; i < kept.length; i++) {
            kept[i] = new Object[Math.min(1000, objects - i * 1000)];
            for (int k = 0; k < kept[i].length; k++)
                kept[i][k] = new Small(k);
        }
        for (int round = 0; round < 3; round++) {
            for (long bytes = 0; bytes < (long) megabytes << 20; bytes += 1040)
                sink = new byte[1024];
            System.gc();
        }
        System.out.println(kept.length);
    }
}
