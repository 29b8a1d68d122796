// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=none
package facts;

/** Objects of classes with gaps between fields, and arrays of all lengths; the same in each run. */
public class OtherLayouts {
    static class Empty {
    }

    static class Bytes {
        byte a, b, c;
    }

    static class Longs extends Bytes {
        long a;
        short b;
        Object c;
    }

    static class Mixed extends Longs {
        int a;
        double b;
        boolean c, d;
        Object[] e;
        String f;
    }

    static class References {
        Object a, b, c;
    }

    static class Deep extends References {
        char a;
        float b;
        long c;
    }

    record Point(int x, int y) {
    }

    enum Colour {
        RED, GREEN
    }

    interface Shape {
        double area();
    }

    static Object[] kept = new Object[64];
    static int count;

    static void keep(Object object) {
        kept[count++ & 63] = object;
    }

    static void instances(int i) {
        keep(new Empty());
        keep(new Bytes());
        keep(new Longs());
        keep(new Mixed());
        keep(new References());
        keep(new Deep());
        keep(new Point(i, i));
        keep(new Exception("no stack", null, false, false) {
            int code;
        });
        keep((Shape) () -> i);
        keep(new java.util.HashMap<>(8));
        keep(new java.util.concurrent.atomic.AtomicLong(i));
    }

    static void arrays(int length) {
        keep(new boolean[length]);
        keep(new byte[length]);
        keep(new char[length]);
        keep(new short[length]);
        keep(new int[length]);
        keep(new float[length]);
        keep(new long[length]);
        keep(new double[length]);
        keep(new Object[length]);
        keep(new Point[length][2]);
        keep(new byte[length].clone());
        keep(java.util.Arrays.copyOf(new Deep[0], length));
    }

    public static void main(String[] words) {
        for (int i = 0; i < 200; i++)
            instances(i);
        for (int length = 0; length < 70; length++)
            arrays(length);
        arrays(1001);
        System.out.println(count + " " + Colour.GREEN);
    }
}
