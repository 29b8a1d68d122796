// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=none
package facts;

import java.lang.management.ManagementFactory;

import com.sun.management.HotSpotDiagnosticMXBean;

/** Arrays of all lengths, and the JVM's own dump of them; see tests/jvm/heap_dump_cases.py. */
public class HeapDump {
    static class Held {
        final boolean[] booleans;
        final byte[] bytes;
        final char[] chars;
        final short[] shorts;
        final int[] ints;
        final float[] floats;
        final long[] longs;
        final double[] doubles;
        final Object[] objects;
        final byte[][] rows;

        Held(int length) {
            booleans = new boolean[length];
            bytes = new byte[length];
            chars = new char[length];
            shorts = new short[length];
            ints = new int[length];
            floats = new float[length];
            longs = new long[length];
            doubles = new double[length];
            objects = new Object[length];
            rows = new byte[length][];
            for (int i = 0; i < length; i += 3)
                objects[i] = this;
        }
    }

    static final Held[] HELD = new Held[41];

    public static void main(String[] words) throws Exception {
        for (int length = 0; length < HELD.length; length++)
            HELD[length] = new Held(length);
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class).dumpHeap(words[0], true);
        System.out.println(HELD.length);
    }
}
