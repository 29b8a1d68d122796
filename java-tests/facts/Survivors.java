// SPDX-License-Identifier: Apache-2.0
package facts;

import java.io.PrintStream;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;

/**
 * Knows how many of its objects survive the next young collections, for engine=walk.  In each round it makes objects
 * of one class, keeps some of them, and then makes rubbish until there was a collection; with the next ones it keeps
 * fewer.  Some of those that it keeps have an identity hash, a lock that is held meanwhile, or a monitor.  It writes:
 *
 *   round CLASS OBJECTS SURVIVED   all were made between two collections, and so many were kept
 *   age CLASS AGE OBJECTS          so many were kept in that many collections
 *   full CLASS OBJECTS             the same as a round, but the collection was a full one
 *
 * tests/jvm/eden_cases.py judges it.
 */
public class Survivors {
    static class A { }
    static class B { long a; }
    static class C { long a, b; Object c; }
    static class D { int a, b, c; }
    static class E { Object a, b; }
    static class F { byte a; }
    static class G { long a, b, c, d, e, f; }
    static class H { int a; }
    static class InFull { long a; }
    static class AfterFull { int a, b; }
    static final int OBJECTS = 3000, AGES = 4, BIG_KIND = 11, BIG = 3;
    static final Object[][] kept = new Object[16][OBJECTS];
    static final List<String> lines = new ArrayList<>();
    static final GarbageCollectorMXBean[] collectors =
            ManagementFactory.getGarbageCollectorMXBeans().toArray(new GarbageCollectorMXBean[0]);
    static volatile Object sink;

    /** Of all kinds. */
    static long collections() {
        long sum = 0;
        for (GarbageCollectorMXBean collector : collectors)
            sum += collector.getCollectionCount();
        return sum;
    }

    static Object make(int kind) {
        switch (kind) {
        case 0: return new A();
        case 1: return new B();
        case 2: return new C();
        case 3: return new D();
        case 4: return new E();
        case 5: return new F();
        case 6: return new G();
        case 7: return new H();
        case 8: return new A[5];
        case 9: return new B[0];
        case 10: return new C[1][];
        case BIG_KIND: return new D[300_000];
        default: return new AfterFull();
        }
    }

    /** How many objects of this kind live on in the collection after they were made, in the one after that, ... */
    static int keptIn(int kind, int age) {
        return kind == BIG_KIND ? BIG : Math.max(0, 700 + 100 * kind - 300 * age);
    }

    static void makeAll(int kind) {
        int objects = kind == BIG_KIND ? BIG : OBJECTS, least = keptIn(kind, 1);
        for (int i = 0; i < objects; i++) {
            Object made = make(kind);
            sink = made;
            if (i < least)
                kept[kind][i] = made;
            if (i % 7 == 0)
                System.identityHashCode(made);
        }
        sink = null;
    }

    static void keepFewer(int kind, int age) {
        for (int i = keptIn(kind, age); i < OBJECTS; i++)
            kept[kind][i] = null;
    }

    static void inflate(Object object) throws InterruptedException {
        synchronized (object) {
            object.wait(1);
        }
    }

    /** Makes rubbish until there was a collection.  Returns false if there were more. */
    static boolean collect(long before) {
        while (collections() == before)
            for (int i = 0; i < 10; i++)
                sink = new byte[4000];
        return collections() == before + 1;
    }

    static void round(int kind) throws InterruptedException {
        long before = collections();
        makeAll(kind);
        Object[] mine = kept[kind];
        inflate(mine[2]);
        boolean whole = collections() == before;
        synchronized (mine[0]) {
            synchronized (mine[1]) {
                whole &= collect(before);
            }
        }
        String name = mine[0].getClass().getName().replace('.', '/');
        if (whole)
            lines.add("round " + name + " " + (kind == BIG_KIND ? BIG : OBJECTS) + " " + keptIn(kind, 1));
        for (int age = 2; age <= AGES && whole && kind != BIG_KIND; age++) { // survivor spaces have no room for that kind
            lines.add("age " + name + " " + (age - 1) + " " + keptIn(kind, age - 1));
            keepFewer(kind, age);
            whole = collect(collections());
        }
        keepFewer(kind, AGES);
    }

    static void full() {
        long before = collections();
        for (int i = 0; i < OBJECTS; i++)
            sink = kept[0][i] = new InFull();
        if (collections() == before) {
            System.gc();
            lines.add("full facts/Survivors$InFull " + OBJECTS);
        }
    }

    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < 2; i++)
            collect(collections());
        for (int kind = 0; kind <= BIG_KIND; kind++)
            round(kind);
        full();
        round(BIG_KIND + 1);
        try (PrintStream out = new PrintStream(System.getProperty("facts.out"))) {
            lines.forEach(out::println);
        }
    }
}
