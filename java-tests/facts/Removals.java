// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=none
package facts;

/**
 * Objects of which tests/jvm/escape_cases.py knows whether `steptrace advise` calls them scalar, as
 * nothing but a frame ever refers to them, and whether C2 removes or makes them: after ADVICE, both.
 */
public class Removals {
    static class Point {
        final int x, y;

        Point(int x, int y) {
            this.x = x;
            this.y = y;
        }
    }

    static class Pair {
        Point point;
    }

    static final Object[] ring = new Object[16];
    static Object sometimes;
    static long sum;

    static int add(Point point) {
        return point.x + point.y;
    }

    /** The test tells the JVM not to compile it into its callers. */
    static int opaque(Point point) {
        return point.x * point.y;
    }

    static Point made(int i) {
        return new Point(i, 3); // ADVICE: scalar, removed
    }

    static int local(int i) {
        Point point = new Point(i, 1); // ADVICE: scalar, removed
        return point.x - point.y;
    }

    static int passed(int i) {
        return add(new Point(i, 2)); // ADVICE: scalar, removed
    }

    static int returned(int i) {
        return made(i).x;
    }

    static int blocked(int i) {
        return opaque(new Point(i, 4)); // ADVICE: scalar, made
    }

    static int stored(int i) {
        Point point = new Point(i, 5); // ADVICE: none, made
        ring[i & 15] = point;
        return point.x;
    }

    static int storedAtTimes(int i) {
        Point point = new Point(i, 6); // ADVICE: none, made
        if ((i & 63) == 1)
            sometimes = point;
        return point.x;
    }

    /** A reference to the point is stored, but in an object that does not outlive the method. */
    static int held(int i) {
        Pair pair = new Pair(); // ADVICE: scalar, removed
        pair.point = new Point(i, 7); // ADVICE: none, either
        return pair.point.y;
    }

    public static void main(String[] words) {
        int count = Integer.parseInt(words[0]);
        for (int i = 0; i < count; i++)
            sum += local(i) + passed(i) + returned(i) + blocked(i) + stored(i) + storedAtTimes(i) + held(i);
        System.out.println(sum);
    }
}
