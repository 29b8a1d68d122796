// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=G1 events=all options=include=facts/**
// SEQUENCE: run
// SEQUENCE: +run +add -add +calls +called -called +called -called -calls +raises !raises
// SEQUENCE: +passes +thrower +Failure.<init> -Failure.<init> !thrower !passes
// SEQUENCE: +makes 50*( +Made.<init> -Made.<init> +keep -keep +keep -keep +keep -keep ) -makes
// SEQUENCE: +catches +thrower +Failure.<init> -Failure.<init> !thrower -catches -run
// FACT: alloc facts/NativeCalls$Made 150
// FACT: alloc facts/NativeCalls$Failure 3
// FACT: alloc [Lfacts/NativeCalls$Made; 50
// FACT: between Arrays alloc [J 50
// FACT: between Arrays alloc [Z 50
// FACT: between Arrays alloc [D 50
// FACT: between Arrays alloc java/lang/String >=50
// FACT: freed facts/NativeCalls$Made 0
package facts;

/** Native methods, and what JNI makes. */
public class NativeCalls {
    static class Made { int value = 2; }
    static class Failure extends RuntimeException {}
    static class Arrays {}

    static Object[] kept = new Object[1000];
    static int used, count;
    static volatile Object sink;

    static native int add(int a, int b);
    native void calls();                                 // called() twice
    static native void raises(Class<?> failure);         // throws one
    static native void passes();                         // thrower(), whose exception it lets pass
    static native boolean catches();                     // thrower(), whose exception it clears
    static native void makes(Class<?> made, int count);  // NewObject, AllocObject, NewObjectArray
    static native void arrays(int count);                // NewLongArray, ..., NewStringUTF

    void called() { count++; } // an empty method called from C is none: the JVM leaves the call out

    static void thrower() { throw new Failure(); }

    static void keep(Object made) { kept[used++] = made; }

    static void run(NativeCalls calls) {
        int sum = add(1, 2);
        calls.calls();
        try {
            raises(Failure.class);
        } catch (Failure e) {
            sum++;
        }
        try {
            passes();
        } catch (Failure e) {
            sum++;
        }
        makes(Made.class, 50);
        sum += catches() ? 1 : 0;
        System.out.println(sum);
    }

    public static void main(String[] args) {
        System.load(System.getProperty("facts.library"));
        run(new NativeCalls());
        for (int i = 0; i < 50; i++)
            kept[used++] = new Made();
        sink = new Arrays();
        arrays(50);
        sink = new Arrays();
        Support.collect();
        System.out.println(used + " " + kept.length);
    }
}
