// SPDX-License-Identifier: Apache-2.0
package facts;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Prints identity hash codes, of a few kinds of objects and after the JDK has done a few things. */
public class Hashes {
    static class Plain {}
    static class Derived extends Plain implements Cloneable {
        @Override public Derived clone() throws CloneNotSupportedException {
            return (Derived) super.clone();
        }
    }
    interface Shape { default String name() { return getClass().getSimpleName(); } }
    record Square(int side) implements Shape {}
    enum Colour { RED, GREEN, BLUE }

    static final List<Object> kept = new ArrayList<>();

    static void print(String what, Object object) {
        kept.add(object);
        System.out.println(what + " " + Integer.toHexString(System.identityHashCode(object)));
    }

    /** The sets' order goes by the hashes. */
    static void sets() {
        Set<Object> set = new HashSet<>();
        List<Object> objects = new ArrayList<>();
        for (int i = 0; i < 3000; i++)
            objects.add(i % 3 == 0 ? new int[i % 7] : new Object());
        set.addAll(objects);
        long order = 0;
        for (Object object : set)
            order = order * 31 + (object instanceof int[] array ? array.length : 1);
        System.out.println("set " + order);
        Set<Object> classes =
            new HashSet<>(List.of(Plain.class, Derived.class, Square.class, Shape.class));
        System.out.println("classes " + classes);
        System.out.println("colours " + new HashSet<>(List.of(Colour.values())));
    }

    static void lambdas() {
        int captured = kept.size();
        IntSupplier number = () -> captured + 1;
        Supplier<Object> maker = Plain::new;
        print("lambda", number);
        print("made " + number.getAsInt(), maker.get());
        print("stream", IntStream.range(0, 20).boxed().filter(i -> i % 2 == 0)
            .collect(Collectors.groupingBy(i -> "k" + i % 3)));
    }

    static void reflection() throws Exception {
        print("instance", Plain.class.getDeclaredConstructor().newInstance());
        print("invoked", Derived.class.getMethod("clone").invoke(new Derived()));
        print("array", java.lang.reflect.Array.newInstance(Square.class, 2));
        print(new Square(2).name(), Class.forName("facts.Scalars"));
    }

    static void libraries() throws Exception {
        print(String.format("%5.2f %s", 1.5, new Square(3)), new Object());
        print("pattern " + Pattern.compile("(a|b)+c?").matcher("abab").matches(), new Object());
        ConcurrentHashMap<Object, Object> map = new ConcurrentHashMap<>();
        for (int i = 0; i < 100; i++)
            map.put(new Object(), i);
        print("map " + map.values(), new Object());
        Thread thread = new Thread(() -> kept.add(new Object()));
        thread.start();
        // join() may wait, and JDKs with compact object headers hash what a thread waits for
        while (thread.isAlive())
            Thread.onSpinWait();
        print("thread", new Object());
    }

    public static void main(String[] args) throws Exception {
        print("first", new Object());
        sets();
        lambdas();
        reflection();
        libraries();
        print("last", new Object());
    }
}
