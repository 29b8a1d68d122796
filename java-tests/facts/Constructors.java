// SPDX-License-Identifier: Apache-2.0
// TEST: events=all options=include=facts/**
// FACT: calls facts/Constructors$Long <init> 1
// FACT: exits facts/Constructors$Long <init> 1
// FACT: alloc facts/Constructors$Long 1
// FACT: alloc facts/Constructors$Nested 1
// FACT: alloc facts/Constructors$Self 2
// FACT: alloc facts/Constructors$Fails 2
// FACT: alloc facts/Constructors$FailsLate 1
// FACT: calls facts/Constructors$Thrower <init> 1
// FACT: alloc facts/Constructors$Thrower 0
// FACT: alloc facts/Constructors$Outer 1
package facts;

/** Constructors whose objects come late or not at all: every entry has its object, told of before. */
public class Constructors {
    static volatile Object sink;
    static long calls;

    static class Base {
        Object held;

        Base() {}

        Base(Object o) { held = o; }

        void use() { calls++; }
    }

    static class Long extends Base {
        Long() {
            super(work(14000));
            use();
        }
    }

    /** The arguments make an object of the class whose constructor is called. */
    static class Nested extends Base {
        Nested() {
            super(new Base(work(14000)));
            use();
        }
    }

    static class Self extends Base {
        Self(int n) {
            this(n > 0 ? new Self(n - 1) : work(14000));
            use();
        }

        Self(Object o) { super(o); }
    }

    static class Fails extends Base {
        Fails(boolean late) { super(fail(late)); }
    }

    static class Thrower extends Base {
        Thrower() {
            if (calls >= 0)
                throw new IllegalStateException();
        }
    }

    static class FailsLate extends Thrower {}

    /** The object is there for long before the outer constructor's super() returns. */
    static class Inner extends Base {
        Inner() { held = work(14000); }
    }

    static class Outer extends Inner {}

    static Object fail(boolean late) {
        if (late)
            work(14000);
        throw new IllegalStateException();
    }

    static Object work(int rounds) {
        Object last = null;
        for (int i = 0; i < rounds; i++)
            last = step();
        return last;
    }

    static Object step() { return new Base(); }

    static void failing(Runnable what) {
        try {
            what.run();
        } catch (IllegalStateException e) {
            calls++;
        }
    }

    public static void main(String[] args) {
        sink = new Long();
        sink = new Nested();
        sink = new Self(1);
        sink = new Outer();
        failing(() -> sink = new Fails(false));
        failing(() -> sink = new Fails(true));
        failing(FailsLate::new);
        System.out.println("calls " + calls);
    }
}
