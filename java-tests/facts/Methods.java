// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=G1,Z events=all options=include=facts/** vm=-Xss1m
// SEQUENCE: main
// SEQUENCE: +main +<init> -<init> +statics +one -one +one -one -statics
// SEQUENCE: +instances +Derived.<init> +Base.<init> -Base.<init> +Derived.helper -Derived.helper -Derived.<init>
// SEQUENCE:   +Base.virtual -Base.virtual +Derived.virtual +Base.virtual -Base.virtual -Derived.virtual
// SEQUENCE:   +Shape.area +Square.side -Square.side -Shape.area -instances
// SEQUENCE: +recursion +countdown +countdown +countdown +countdown -countdown -countdown -countdown -countdown -recursion
// SEQUENCE: +exceptions +outer +middle +inner !inner !middle !outer -exceptions
// SEQUENCE: +finals +cleans +inner !inner +cleanup -cleanup !cleans +swallows +inner !inner -swallows -finals
// SEQUENCE: +rethrows +again +inner !inner !again -rethrows
// SEQUENCE: +constructors +Thrower.<init> +Base.<init> -Base.<init> !Thrower.<init> -constructors
// SEQUENCE: +initializers +Lazy.<clinit> +one -one -Lazy.<clinit> +Lazy.get -Lazy.get +Lazy.get -Lazy.get
// SEQUENCE:   +Broken.<clinit> +inner !inner !Broken.<clinit> -initializers
// SEQUENCE: +monitors +guarded -guarded +guardedThrows !guardedThrows +block !block -monitors
// SEQUENCE: +lambdas 3*( +lambda$lambdas$0 -lambda$lambdas$0 ) +one -one -lambdas
// SEQUENCE: +faults +divides !divides +dereferences !dereferences -faults
// SEQUENCE: +loops 500*( +one -one ) -loops
// SEQUENCE: -main
// FACT: calls facts/Methods one 504
// FACT: pops facts/Methods inner 5
// FACT: calls facts/Methods$$Lambda* getAsInt 3
// FACT: receivers facts/Methods$Derived facts/Methods$Base
package facts;

import java.util.function.IntSupplier;
import java.util.function.IntUnaryOperator;

/** The exact sequence of entries (+), exits (-) and exceptional exits (!) of these methods. */
public class Methods {
    static class Base {
        int value;
        Base() { value = 1; }
        int virtual() { return value; }
    }
    static class Derived extends Base {
        Derived() { helper(); }
        private void helper() { value++; }
        @Override int virtual() { return super.virtual() + 1; }
    }
    interface Shape { int side(); default int area() { int side = side(); return side * side; } }
    record Square(int length) implements Shape {
        @Override public int side() { return length; }
    }
    static class Thrower extends Base { Thrower() { super(); if (value == 1) throw new IllegalStateException(); } }
    static class Lazy {
        static final int value = one(2);
        static int get() { return value; }
    }
    static class Broken {
        static int value;
        static { value = inner(1); }
    }

    static int total;

    static int one(int x) { return x + 1; }

    static void statics() { total += one(1) + one(2); }

    static void instances(Shape shape) {
        Derived derived = new Derived();
        Base base = plainBase;
        total += base.virtual() + derived.virtual() + shape.area();
    }

    static final Base plainBase = new Base();

    static void recursion() { countdown(3); }

    static void countdown(int n) {
        if (n > 0)
            countdown(n - 1);
    }

    static void exceptions() {
        try {
            outer();
        } catch (IllegalStateException e) {
            total++;
        }
    }

    static void outer() { middle(); }

    static void middle() { total += inner(1); }

    static int inner(int x) {
        if (x == 1)
            throw new IllegalStateException();
        return x;
    }

    static void finals() {
        try {
            cleans();
        } catch (IllegalStateException e) {
            total++;
        }
        total += swallows();
    }

    static void cleans() {
        try {
            inner(1);
        } finally {
            cleanup();
        }
    }

    @SuppressWarnings("finally")
    static int swallows() {
        try {
            inner(1);
        } finally {
            return 3;
        }
    }

    static void cleanup() { total++; }

    static void rethrows() {
        try {
            again();
        } catch (RuntimeException e) {
            total++;
        }
    }

    static void again() {
        try {
            inner(1);
        } catch (IllegalStateException e) {
            throw new RuntimeException(e);
        }
    }

    static void constructors() {
        try {
            new Thrower();
        } catch (IllegalStateException e) {
            total++;
        }
    }

    static void initializers() {
        total += Lazy.get() + Lazy.get();
        try {
            total += Broken.value;
        } catch (ExceptionInInitializerError e) {
            total++;
        }
    }

    static synchronized void guarded() { total++; }

    static synchronized void guardedThrows() { throw new IllegalStateException(); }

    static void block() {
        synchronized (plainBase) {
            throw new IllegalStateException();
        }
    }

    static void monitors() {
        guarded();
        try {
            guardedThrows();
        } catch (IllegalStateException e) {
            total++;
        }
        try {
            block();
        } catch (IllegalStateException e) {
            total++;
        }
    }

    static void lambdas(int captured) {
        IntSupplier supplier = () -> captured + 1;
        for (int i = 0; i < 3; i++)
            total += supplier.getAsInt();
        IntUnaryOperator reference = Methods::one;
        total += reference.applyAsInt(3);
    }

    static void faults() {
        try {
            divides(0);
        } catch (ArithmeticException e) {
            total++;
        }
        try {
            dereferences(null);
        } catch (NullPointerException e) {
            total++;
        }
    }

    static int divides(int by) { return 10 / by; }

    static int dereferences(int[] array) { return array.length; }

    static void loops() {
        for (int i = 0; i < 500; i++)
            total += one(i);
    }

    public static void main(String[] args) {
        new Methods();
        statics();
        instances(square);
        recursion();
        exceptions();
        finals();
        rethrows();
        constructors();
        initializers();
        monitors();
        lambdas(4);
        faults();
        loops();
        System.out.println(total);
    }

    static final Square square = new Square(3);
}
