// SPDX-License-Identifier: Apache-2.0

/** Allocations of many forms; compiled without line numbers. Each method runs few times, so that nothing is left out. */
public class Bare {
    static Object a, b, c;
    static int[][] grid;

    final Object first;
    Object second;

    Bare(Object first) {
        this.first = first;
        second = new Object[] {first, new StringBuilder(3)};
    }

    static class Heir extends Bare {
        Heir(int number) {
            super(number > 3 ? new Object() : new StringBuilder(number));
            second = new long[number];
        }
    }

    static void nested() {
        a = new Bare(new Bare(new int[2]));
        b = new Heir(2);
        c = new Heir(4);
    }

    static int chosen(int kind) {
        switch (kind) {
            case 0: a = new byte[kind]; break;
            case 1: a = new char[kind]; b = kind > 0 ? new Object() : new Bare(a); break;
            default: grid = new int[2][3];
        }
        return kind;
    }

    static Object thrown(int[] numbers, int at) {
        try {
            return numbers[at];
        } catch (ArrayIndexOutOfBoundsException fault) {
            return fault;
        } finally {
            a = new short[3];
        }
    }

    static Object copied(Object[] from) {
        b = from[0];
        synchronized (from) {
            c = new double[1];
        }
        return new Object();
    }

    static void round(int i) {
        nested();
        chosen(i % 3);
        thrown(new int[1], i % 2);
        copied(new Object[] {a, b});
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 6; i++)
            round(i);
        if (args.length != 0) { // traced by another process
            System.out.println("ready");
            System.in.read();
            for (int i = 0; i < 6; i++)
                round(i);
            System.out.println("done");
            System.in.read();
        }
    }
}
