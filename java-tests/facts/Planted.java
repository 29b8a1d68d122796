// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=none
package facts;

import java.util.ArrayList;
import java.util.Arrays;

/** Ways to allocate, of which tests/jvm/advice_cases.py knows the lines: ADVICE says what `steptrace advise` finds there. */
public class Planted {
    static class Point {
        final int x, y;

        Point(int x, int y) {
            this.x = x;
            this.y = y;
        }
    }

    static class Row {
        int[] values = new int[8];
        int count;

        void add(int value) {
            if (count == values.length)
                values = Arrays.copyOf(values, 2 * count);
            values[count++] = value;
        }
    }

    static class Slots {
        Object[] values = new Object[8];
        int count;

        void add(Object value) {
            if (count == values.length) {
                Object[] longer = new Object[2 * count];
                System.arraycopy(values, 0, longer, 0, count);
                values = longer;
            }
            values[count++] = value;
        }

        void clear(int index) {
            values[index] = null;
        }
    }

    static final Object[] kept = new Object[400];
    static final Object[] ring = new Object[4];
    static final Object[] window = new Object[300];
    static final Object element = new Object();
    static Object scratch;
    static long sum;
    static int seed = 12345;

    static int next(int most) {
        seed = seed * 1103515245 + 12345;
        return (seed >>> 8) % most;
    }

    /** They live to the end. */
    static void keep() {
        for (int i = 0; i < kept.length; i++)
            kept[i] = new long[100]; // ADVICE: pretenure
    }

    /** Four at a time, of different sizes. */
    static void buffers() {
        for (int i = 0; i < 60; i++)
            ring[i & 3] = new byte[4000 + 16 * (i % 7)]; // ADVICE: reuse
    }

    /** One at a time, all alike, and one at a time of different sizes: with collect=8k there is a collection for each. */
    static void again() {
        for (int i = 0; i < 40; i++) {
            scratch = new long[500]; // ADVICE: duplicate
            sum += scratch.hashCode();
            scratch = null;
            scratch = new byte[8400 + 16 * next(100)]; // ADVICE: reuse
            sum += scratch.hashCode();
            scratch = null;
        }
    }

    /** Nothing refers to them but a local variable. */
    static void points() {
        for (int i = 0; i < 5000; i++) {
            Point point = new Point(i, -i); // ADVICE: scalar
            sum += point.x - point.y;
        }
    }

    static int fill(Row row) {
        for (int i = 0; i < 200; i++)
            row.add(i);
        return row.count;
    }

    static int fill(ArrayList<Object> list) {
        for (int i = 0; i < 100; i++)
            list.add(element);
        return list.size();
    }

    /** Of 128 elements it uses 70, and writes null to one beyond. */
    static int fill(Slots slots) {
        for (int i = 0; i < 70; i++)
            slots.add(element);
        slots.clear(99);
        return slots.count;
    }

    /** Three kinds of collections, kept for a while. */
    static void grow() {
        for (int i = 0; i < 200; i++) {
            Row row = new Row(); // ADVICE: presize
            window[next(window.length)] = row;
            sum += fill(row);
            ArrayList<Object> list = new ArrayList<>(); // ADVICE: presize
            window[next(window.length)] = list;
            sum += fill(list);
            Slots slots = new Slots(); // ADVICE: presize
            window[next(window.length)] = slots;
            sum += fill(slots);
        }
    }

    /** Objects about which there is nothing to say: they live for some time. */
    static void nothing() {
        for (int i = 0; i < 2000; i++)
            window[next(window.length)] = new byte[600 + next(100)];
        for (int i = 0; i < 200; i++) {
            ArrayList<Object> list = new ArrayList<>(100);
            window[next(window.length)] = list;
            sum += fill(list);
        }
    }

    public static void main(String[] arguments) {
        keep();
        buffers();
        again();
        points();
        grow();
        nothing();
        System.out.println(sum != 0);
    }
}
