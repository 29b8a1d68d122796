// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=all vm=-Xmx128m
// FACT: alloc facts/HotAllocations$Plain 120000
// FACT: alloc facts/HotAllocations$Worked 90000
// FACT: alloc [Lfacts/HotAllocations$Item; 160001
// FACT: alloc [[Lfacts/HotAllocations$Grid; 20000
// FACT: alloc [Lfacts/HotAllocations$Grid; 60000
// FACT: alloc facts/HotAllocations$Copied 40001
// FACT: between Boxing alloc java/lang/Double 40000
// FACT: alloc facts/HotAllocations$$Lambda* >=40000
package facts;

import java.lang.reflect.Array;
import java.util.Arrays;
import java.util.function.IntSupplier;

/** Loops that the JIT compilers compile, in one thread and in three. */
public class HotAllocations {
    static class Plain { int a; }
    static class Worked { Object a, b; }
    static class Item {}
    static class Grid {}
    static class Boxing {}
    static class Copied implements Cloneable {
        int a = 3;
        Object copy() throws CloneNotSupportedException { return clone(); }
    }

    static volatile Object sink;

    static void work() {
        for (int i = 0; i < 30_000; i++)
            sink = new Worked();
    }

    static void arrays(Item[] template) {
        for (int i = 0; i < 40_000; i++) {
            sink = new Item[i % 50];
            sink = Arrays.copyOf(template, i % 30);
            sink = template.clone();
            sink = Array.newInstance(Item.class, i % 10);
        }
    }

    static void grids() {
        for (int i = 0; i < 20_000; i++)
            sink = new Grid[3][i % 4];
    }

    static void clones() throws CloneNotSupportedException {
        Copied original = new Copied();
        for (int i = 0; i < 40_000; i++)
            sink = original.copy();
    }

    static void boxing() {
        for (int i = 0; i < 40_000; i++)
            sink = (Double) (double) i;
    }

    static void lambdas() {
        for (int i = 0; i < 40_000; i++) {
            int captured = i;
            sink = (IntSupplier) () -> captured;
        }
    }

    public static void main(String[] args) throws Exception {
        Thread[] threads = new Thread[3];
        for (int i = 0; i < threads.length; i++)
            (threads[i] = new Thread(HotAllocations::work)).start();
        for (int i = 0; i < 120_000; i++)
            sink = new Plain();
        for (Thread thread : threads)
            thread.join();
        arrays(new Item[5]);
        grids();
        clones();
        sink = new Boxing();
        boxing();
        sink = new Boxing();
        lambdas();
        System.out.println("done");
    }
}
