// SPDX-License-Identifier: Apache-2.0
package facts;

/**
 * Methods that are called of many objects, and constructors of all kinds, with collections between
 * them: tests/jvm/engine_cases.py compares which objects their events name.
 */
public class Receivers {
    interface Shape {
        int area();
    }

    static class Base {
        Object room;
        int size;

        Base(int size) {
            this.size = size;
            room = new int[size & 7];
        }

        int size() {
            return size;
        }
    }

    static class Square extends Base implements Shape {
        Square(int size) {
            super(size + 1);
        }

        public int area() {
            return size() * size();
        }
    }

    static class Wedge extends Base implements Shape {
        Base inner;

        Wedge(int size) {
            super(made(size));
            inner = new Base(size);
        }

        static int made(int size) {
            return new Base(size).size();
        }

        public int area() {
            return size() / 2 + inner.size();
        }
    }

    static class Bad {
        Bad(int size) {
            this(checked(size));
        }

        Bad(long size) {
            if (size == 3)
                throw new IllegalStateException();
        }

        static long checked(int size) {
            if (size == 5)
                throw new IllegalArgumentException();
            return size;
        }
    }

    int deep(int depth) {
        return depth == 0 ? 0 : 1 + new Square(depth).area() % 3 + deep(depth - 1);
    }

    public static void main(String[] args) {
        int rounds = Integer.parseInt(args[0]), sum = 0;
        Shape[] all = new Shape[16];
        Receivers self = new Receivers();
        for (int i = 0; i < rounds; i++) {
            all[i & 15] = i % 3 == 0 ? new Wedge(i) : new Square(i);
            Shape other = all[i * 7 & 15];
            sum += other == null ? 0 : other.area();
            try {
                new Bad(i % 11);
            } catch (RuntimeException e) {
                sum++;
            }
            sum += self.deep(i & 3);
            if (i % 128 == 0)
                System.gc();
        }
        System.out.println(sum);
    }
}
