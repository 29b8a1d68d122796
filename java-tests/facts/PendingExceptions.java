// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=G1 events=all options=include=facts/**+jdk/internal/reflect/**
// FACT: calls facts/PendingExceptions$Made <init> 6
// FACT: alloc facts/PendingExceptions$Made 6
package facts;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;

/**
 * Native methods that an exception leaves, or that call JNI while one is pending: the program gets
 * its exception.  Constructors are left before the one of the superclass was called.
 */
public class PendingExceptions {
    static class Base {
        Base(int value) {}
    }

    static class Made extends Base {
        Made() { super(thrower()); }

        static int thrower() { throw new IllegalStateException("the program's"); }
    }

    static class Holder {
        Object field;
        static Object shared;
    }

    static native Object make(Class<?> made);                    // NewObject, whose exception it passes on
    static native void stores(Holder holder, Object[] elements); // throws, and then stores
    static native Object allocates(Class<?> holder);             // throws, and then allocates

    static void byReflection() throws Exception {
        Constructor<Made> constructor = Made.class.getDeclaredConstructor();
        for (int i = 0; i < 3; i++)
            try {
                System.out.println("no exception, but " + constructor.newInstance());
            } catch (InvocationTargetException e) {
                System.out.println(e.getCause().getMessage());
            }
    }

    static void byNative() {
        for (int i = 0; i < 3; i++)
            try {
                System.out.println("no exception, but " + make(Made.class));
            } catch (IllegalStateException e) {
                System.out.println(e.getMessage());
            }
    }

    static void inSpite() {
        try {
            stores(new Holder(), new Object[1]);
            System.out.println("no exception after stores");
        } catch (IllegalStateException e) {
            System.out.println(e.getMessage());
        }
        try {
            System.out.println("no exception, but " + allocates(Holder.class));
        } catch (IllegalStateException e) {
            System.out.println(e.getMessage());
        }
    }

    public static void main(String[] args) throws Exception {
        System.load(System.getProperty("facts.library"));
        byNative();
        byReflection();
        inSpite();
    }
}
