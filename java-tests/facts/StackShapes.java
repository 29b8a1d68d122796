// SPDX-License-Identifier: Apache-2.0
package facts;

import java.io.InputStream;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;

/** Allocates below stacks of every shape, over and over, so that the same ones come in interpreted
 * and in compiled code; tests/jvm/stack_cases.py compares two ways to walk them. */
public class StackShapes {
    static volatile Object sink;
    static int rounds;

    // Deep recursion, with constructors in between.
    static class Node {
        final Node child;
        final int[] data;
        Node(int depth) {
            data = new int[depth & 3];
            child = depth > 0 ? new Node(depth - 1) : null;
        }
    }

    static class Derived extends ArrayList<Object> {
        final Object part;
        Derived(Object part) {
            super(1);
            this.part = part;
            add(new Object());
        }
        Derived() {
            this(new StringBuilder());
        }
    }

    // More constructors than the agent asks the JVM for beyond the stack.
    static class Ladder {
        Ladder() { this(1); }
        Ladder(int a) { this(a, 2); }
        Ladder(int a, int b) { this(a, b, 3); }
        Ladder(int a, int b, int c) { this(a, b, c, 4); }
        Ladder(int a, int b, int c, int d) { this(a, b, c, d, 5); }
        Ladder(int a, int b, int c, int d, int e) { this(a, b, c, d, e, 6); }
        Ladder(int a, int b, int c, int d, int e, int f) { sink = null; }
    }

    static Object even(int depth) {
        return depth == 0 ? new Object() : odd(depth - 1);
    }

    static Object odd(int depth) {
        return depth == 0 ? new long[1] : even(depth - 1);
    }

    static Object deep(int depth) {
        sink = new Object();
        sink = new Ladder();
        return depth == 0 ? new Node(3) : deep(depth - 1);
    }

    // A call that is bound to the one class known, until a second is loaded below it.
    abstract static class Shape {
        abstract Object make(int depth);
        Object below(int depth) {
            return depth == 0 ? make(depth) : below(depth - 1);
        }
    }

    static class Square extends Shape {
        Object make(int depth) {
            return new int[2];
        }
    }

    static class Loader implements Supplier<Shape> {
        public Shape get() {
            return new Round();
        }
    }

    static class Round extends Shape {
        Object make(int depth) {
            return new Derived();
        }
    }

    static Object shapes(Shape shape, Supplier<Shape> other, int depth) {
        if (depth > 0) {
            Object made = shapes(shape, other, depth - 1);
            sink = new Object[1];
            return made;
        }
        sink = shape.below(3);
        if (other != null)
            sink = other.get().below(2);
        return shape.make(0);
    }

    // Exceptions.
    static Object thrower(int depth) {
        if (depth == 0)
            throw new IllegalStateException("thrown");
        try {
            return thrower(depth - 1);
        } catch (IllegalStateException caught) {
            sink = new Object();
            throw caught;
        } finally {
            sink = new byte[depth];
        }
    }

    static void exceptions() {
        try {
            thrower(5);
        } catch (IllegalStateException caught) {
            sink = new StringBuilder(caught.getMessage());
        }
    }

    // Lambdas and reflection.
    static Object lambdas(int depth) {
        Function<Integer, Object> inner = n -> new Node(n);
        Function<Integer, Object> outer = n -> n == 0 ? inner.apply(1) : lambdas(n - 1);
        return outer.andThen(made -> sink = new Object[]{made}).apply(depth);
    }

    static final Method REFLECTED = find("even");

    static Method find(String name) {
        try {
            return StackShapes.class.getDeclaredMethod(name, int.class);
        } catch (ReflectiveOperationException failure) {
            throw new IllegalStateException(failure);
        }
    }

    static void reflection() throws ReflectiveOperationException {
        sink = REFLECTED.invoke(null, rounds & 3);
        sink = Derived.class.getDeclaredConstructor().newInstance();
    }

    // A class that is loaded again and again, initialised, used and left to the collector: what the
    // JVM knows of it may lie where it knew of the last one.
    public static class Reloaded implements Supplier<Object> {
        static final Object FIRST = new ArrayList<Object>(List.of("first"));
        public Object get() {
            return inner(2);
        }
        Object inner(int depth) {
            return depth == 0 ? new Object() : inner(depth - 1);
        }
    }

    static class Again extends ClassLoader {
        Class<?> again(byte[] file) {
            return defineClass("facts.StackShapes$Reloaded", file, 0, file.length);
        }
    }

    static void reload(byte[] file) throws ReflectiveOperationException {
        Class<?> made = new Again().again(file);
        Supplier<?> supplier = (Supplier<?>) made.getDeclaredConstructor().newInstance();
        for (int i = 0; i < 3; i++) sink = supplier.get();
    }

    // Compiled while it runs.
    static void loop(int times) {
        for (int i = 0; i < times; i++) {
            sink = new Object();
            if (i % 64 == 0)
                sink = even(i & 7);
        }
    }

    static void round(byte[] file) throws ReflectiveOperationException {
        sink = deep(30);
        sink = even(rounds % 40);
        sink = new Derived();
        exceptions();
        sink = lambdas(3);
        reflection();
        for (int i = 0; i < 8; i++) shapes(new Square(), rounds == 1000 ? new Loader() : null, i);
        if (rounds % 20 == 0)
            reload(file);
    }

    static void natives() {
        String library = System.getProperty("facts.library", "");
        if (library.isEmpty())
            return;
        System.load(library);
        for (int i = 0; i < 8; i++) {
            new NativeCalls().calls();
            NativeCalls.makes(Derived.class, 3);
            NativeCalls.arrays(2);
        }
    }

    static void run(byte[] file, int wanted) {
        try {
            for (int i = 0; i < wanted; i++) {
                rounds = i;
                round(file);
                if (i % 500 == 499)
                    System.gc();
            }
            natives();
            loop(wanted * 20);
        } catch (ReflectiveOperationException failure) {
            throw new IllegalStateException(failure);
        }
    }

    static void virtual(byte[] file) throws Exception {
        if (Runtime.version().feature() < 21)
            return;
        Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++)
            threads.add((Thread) start.invoke(null, (Runnable) () -> run(file, 20)));
        for (Thread thread : threads) thread.join();
    }

    public static void main(String[] args) throws Exception {
        byte[] file;
        try (InputStream in = StackShapes.class.getResourceAsStream("StackShapes$Reloaded.class")) {
            file = in.readAllBytes();
        }
        int wanted = Integer.parseInt(args[0]);
        Thread other = new Thread(() -> run(file, wanted));
        other.start();
        run(file, wanted);
        other.join();
        virtual(file);
        System.out.println("done");
    }
}
