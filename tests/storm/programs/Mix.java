// SPDX-License-Identifier: Apache-2.0
// Some of everything: objects, arrays, strings, exceptions, recursion, lambdas, locks, references,
// reflection, threads.  ROUNDS THREADS; what it says depends on these only.
package storm;

import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.LongUnaryOperator;
import java.util.stream.IntStream;

public class Mix {
    interface Work {
        long round(Random random) throws Exception;
    }

    static class Node {
        final Node left, right;
        final int value;

        Node(Node left, Node right, int value) {
            this.left = left;
            this.right = right;
            this.value = value;
        }

        long sum() {
            return value + (left == null ? 0 : left.sum()) + (right == null ? 0 : right.sum());
        }
    }

    static class Thrown extends RuntimeException {
        final int depth;

        Thrown(int depth) {
            super("at " + depth, null, false, depth % 2 == 0);
            this.depth = depth;
        }
    }

    record Pair(int first, String second) {}

    static final Object LOCK = new Object();
    static long guarded;

    static Node tree(Random random, int depth) {
        return depth == 0 ? null
            : new Node(tree(random, depth - 1), tree(random, depth - 1), random.nextInt(9));
    }

    static int dive(int depth, int thrownAt) {
        if (depth == thrownAt)
            throw new Thrown(depth);
        try {
            return dive(depth + 1, thrownAt) + 1;
        } catch (Thrown thrown) {
            if (depth % 3 == 0)
                return thrown.depth;
            throw thrown;
        }
    }

    static long text(Random random) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 20; i++)
            text.append(random.nextInt()).append((char) ('a' + i)).append(random.nextDouble());
        return (text + "\u20ac" + text.length()).hashCode();
    }

    static long maps(Random random) {
        Map<String, List<Pair>> map = new TreeMap<>();
        for (int i = 0; i < 50; i++) {
            int value = random.nextInt(30);
            map.computeIfAbsent("k" + value, key -> new ArrayList<>()).add(new Pair(i, "v" + value));
        }
        return new HashMap<>(map).values().stream().mapToInt(List::size).sum() + map.hashCode();
    }

    static long arrays(Random random) {
        int[][][] cube = new int[3][4][random.nextInt(5) + 1];
        cube[2][3][0] = random.nextInt();
        Object[] copy = cube.clone();
        long[] numbers = IntStream.range(0, 100).mapToLong(i -> i * 31L).toArray();
        return ((int[][]) copy[2])[3][0] + numbers.length + new String[random.nextInt(50)].length;
    }

    static long references(Random random) {
        byte[] held = new byte[random.nextInt(1000) + 1];
        WeakReference<byte[]> weak = new WeakReference<>(held);
        SoftReference<Object> soft = new SoftReference<>(new Object());
        synchronized (LOCK) {
            guarded += weak.get().length;
        }
        return held.length + (soft.refersTo(LOCK) ? 1 : 0);
    }

    static long reflection(Random random) throws Exception {
        Method method = Pair.class.getDeclaredMethod("first");
        int sum = 0;
        for (int i = 0; i < 30; i++)
            sum += (Integer) method.invoke(new Pair(random.nextInt(99), ""));
        return sum;
    }

    static final Work[] WORKS = {
        random -> tree(random, 8).sum(), random -> dive(0, random.nextInt(40) + 1), Mix::text,
        Mix::maps, Mix::arrays, Mix::references, Mix::reflection,
        random -> {
            LongUnaryOperator grown = x -> x * 7 + random.nextInt(3);
            return grown.andThen(x -> x ^ 5).applyAsLong(random.nextInt());
        }};

    static long work(int seed, int rounds) {
        Random random = new Random(seed);
        long sum = 0;
        for (int i = 0; i < rounds; i++)
            try {
                sum = sum * 31 + WORKS[i % WORKS.length].round(random);
            } catch (Exception thrown) {
                sum ^= thrown.getClass().getName().hashCode();
            }
        return sum;
    }

    static long run(int rounds, int count) throws InterruptedException {
        long[] sums = new long[count];
        Thread[] threads = new Thread[count];
        for (int i = 0; i < count; i++) {
            int number = i;
            threads[i] = new Thread(() -> sums[number] = work(number, rounds), "worker" + i);
            threads[i].start();
        }
        long all = 0;
        for (int i = 0; i < count; i++) {
            threads[i].join();
            all = all * 13 + sums[i];
        }
        return all;
    }

    public static void main(String[] args) throws Exception {
        System.out.println("mix " + run(Integer.parseInt(args[0]), Integer.parseInt(args[1]))
                           + " " + guarded);
    }
}
