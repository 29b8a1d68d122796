// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=G1,Z
// FACT: between Section alloc java/lang/IllegalStateException 10000
// FACT: between Section alloc [J 21000
// FACT: between Section alloc java/lang/String 6000
// FACT: between Section alloc facts/Throwing$Named 3000
package facts;

import java.lang.reflect.Constructor;

/** What the VM makes for exceptions: arrays for each 32 frames of the stack trace, and the messages
 * of those that it throws itself; not those that Java code made. */
public class Throwing {
    static class Section {}
    static class Named extends RuntimeException {
        Named(String name) { super(name); }
        Named() { this("always the same"); }
    }

    static final int MANY = 1000;
    static volatile Object sink;

    static int deep(int frames) {
        if (frames == 0)
            throw new ArithmeticException();
        return deep(frames - 1) + 1;
    }

    /** 100 frames, and this and main(): four parts. */
    static void deep() {
        try {
            deep(99);
        } catch (ArithmeticException e) {
            sink = e;
        }
    }

    static void copied() {
        try {
            System.arraycopy(new int[1], 0, new int[1], 0, 2);
        } catch (ArrayIndexOutOfBoundsException e) {
            sink = e;
        }
    }

    static void indexed(int[] array) {
        try {
            array[1] = 0;
        } catch (ArrayIndexOutOfBoundsException e) {
            sink = e;
        }
    }

    static void cast(Object text) {
        try {
            sink = (Integer) text;
        } catch (ClassCastException e) {
            sink = e;
        }
    }

    static void none(Object nothing) {
        try {
            nothing.hashCode();
        } catch (NullPointerException e) {
            sink = e.getMessage();
        }
    }

    static void literal() {
        sink = new IllegalStateException("it is so");
    }

    static void all(int number, int[] array, Constructor<Named> constructor) throws Exception {
        deep();
        copied();
        indexed(array);
        cast("");
        none(null);
        sink = new Named("number " + number);
        sink = new Named();
        String name = String.valueOf(number);
        sink = name;
        sink = constructor.newInstance(name);
    }

    public static void main(String[] arguments) throws Exception {
        if (Runtime.version().feature() < 28) // later ones keep a frame's method and index in a long
            Support.fact("between Section alloc [S 21000");
        Constructor<Named> constructor = Named.class.getDeclaredConstructor(String.class);
        int[] array = new int[1];
        for (int i = 0; i < 500; i++)
            all(i, array, constructor);
        for (int i = 0; i < 10 * MANY; i++) // JDK 28 resolves a String again once this is compiled
            literal();
        sink = new Section();
        for (int i = 0; i < MANY; i++)
            all(1000 + i, array, constructor);
        for (int i = 0; i < 10 * MANY; i++)
            literal();
        sink = new Section();
    }
}
