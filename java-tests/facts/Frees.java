// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=all vm=-Xmx128m
// FACT: alloc facts/Frees$Dropped 60000
// FACT: freed facts/Frees$Dropped 60000
// FACT: alloc facts/Frees$Held 10000
// FACT: freed facts/Frees$Held 0
// FACT: alloc facts/Frees$Mixed 20000
// FACT: freed facts/Frees$Mixed 10000
// FACT: freed facts/Frees$Short 200000
// FACT: freed [Lfacts/Frees$Dropped; 3
// FACT: freed [Lfacts/Frees$Mixed; 0
// FACT: freed facts/Frees$Node 5000
// FACT: freed facts/Frees$Finalized 100
// FACT: freed facts/Frees$Referent 50
// FACT: freed facts/Frees$Weak 50
// FACT: frees-between FirstCollected facts/Frees$Dropped 20000
package facts;

import java.lang.ref.WeakReference;

/** Objects dropped are freed, each once; objects held are not. */
public class Frees {
    static class Dropped { long a; }
    static class Held { int a; }
    static class Mixed { Object a; }
    static class Short { byte a; }
    static class Node { Node next, previous; }
    static class Referent {}
    static class Weak extends WeakReference<Referent> { Weak(Referent r) { super(r); } }
    static class Finalized {
        static volatile int count;
        @SuppressWarnings({"deprecation", "removal"})
        @Override protected void finalize() { synchronized (Finalized.class) { count++; } }
    }
    /** One is made before the first objects are dropped, one after they were collected. */
    static class FirstCollected {}

    static volatile Object sink;
    static Held[] held = new Held[10_000];
    static Mixed[] mixed = new Mixed[20_000];

    static Dropped[] dropped() {
        Dropped[] objects = new Dropped[20_000];
        for (int i = 0; i < objects.length; i++)
            objects[i] = new Dropped();
        return objects;
    }

    static void rounds() {
        for (int round = 0; round < 3; round++) {
            sink = dropped();
            if (round == 0)
                sink = new Object[] {new FirstCollected(), sink};
            sink = null;
            Support.collect();
            if (round == 0)
                sink = new FirstCollected();
        }
    }

    static void hold() {
        for (int i = 0; i < held.length; i++)
            held[i] = new Held();
        for (int i = 0; i < mixed.length; i++)
            mixed[i] = new Mixed();
        for (int i = 0; i < mixed.length; i += 2)
            mixed[i] = null;
        for (int i = 0; i < 200_000; i++)
            sink = new Short();
        Node ring = new Node();
        ring.next = ring;
        for (int i = 1; i < 5000; i++) {
            Node node = new Node();
            node.previous = ring;
            node.next = ring.next;
            ring.next = node;
        }
        sink = null;
    }

    static void references() {
        for (int i = 0; i < 50; i++)
            sink = new Weak(new Referent());
        for (int i = 0; i < 100; i++)
            sink = new Finalized();
        sink = null;
    }

    public static void main(String[] args) {
        rounds();
        hold();
        references();
        while (Finalized.count < 100) {
            System.gc();
            Support.pause(10);
        }
        Support.pause(50);
        Support.collect();
        System.out.println("held " + held.length + " " + Finalized.count);
    }
}
