// SPDX-License-Identifier: Apache-2.0

package java.lang;

/**
 * The probes in Java, for tests of rewritten classes without the agent: they keep what they are told
 * in an array, which never grows, once recording is on.  Patched into java.base.
 */
public final class StepTraceProbe {
    public static final int LIMIT = 1 << 16;
    public static boolean on;
    public static int count;
    public static final String[] names = new String[LIMIT];
    public static final int[] numbers = new int[LIMIT];
    public static final Object[] objects = new Object[LIMIT];
    public static long calls;

    private StepTraceProbe() {
    }

    private static void record(String name, int number, Object object) {
        calls++;
        if (on && count < LIMIT) {
            names[count] = name;
            numbers[count] = number;
            objects[count++] = object;
        }
    }

    public static void alloc(Object object) {
        record("alloc", 0, object);
    }

    public static void allocCloned(Object from, Object object) {
        record("allocCloned", 0, object);
    }

    public static void allocSuperCloned(Object from, Object object) {
        record("allocSuperCloned", 0, object);
    }

    public static void allocUnless(Object object, Object known) {
        record("allocUnless", 0, object);
    }

    public static void allocArrays(Object object, int dimensions) {
        record("allocArrays", dimensions, object);
    }

    public static void keep(Object object) {
    }

    public static void entry(int number) {
        record("entry", number, null);
    }

    public static void entryThis(int number, Object object) {
        record("entryThis", number, object);
    }

    public static void entryNew(int number) {
        record("entryNew", number, null);
    }

    public static void entrySuper(int number) {
        record("entryNew", number, null);
    }

    public static void superCall(int number) {
    }

    public static void constructed(int number, Object object) {
        record("constructed", number, object);
    }

    public static void exit(int number) {
        record("exit", number, null);
    }

    public static void unwind(int number) {
        record("unwind", number, null);
    }

    public static void call(int number) {
        record("call", number, null);
    }

    public static void callUnwind(int number) {
        record("callUnwind", number, null);
    }

    public static void caught(int number) {
        record("caught", number, null);
    }

    public static void storeField(Object holder, Object value, int number) {
        record("storeField", number, holder);
        record("value", number, value);
    }

    public static void storeStatic(Object value, int number) {
        record("storeStatic", number, value);
    }

    public static void storeElement(Object array, int index, Object value) {
        record("storeElement", index, array);
        record("value", index, value);
    }

    public static void storeClone(Object from, Object object) {
        record("storeClone", 0, object);
    }

    public static void storeCopy(Object array, Object from, int first) {
        record("storeCopy", first, array);
    }

    public static void copied(Object from, int first, Object to, int at, int n) {
        record("copied", n, to);
    }

    public static void storeOffset(Object holder, long offset, Object value) {
        record("storeOffset", 0, holder);
    }

    public static void storeSet(boolean done, Object holder, long offset, Object value) {
        record("storeSet", done ? 1 : 0, holder);
    }

    public static void storeExchanged(Object found, Object wanted, Object holder, long offset, Object value) {
        record("storeExchanged", found == wanted ? 1 : 0, holder);
    }

    public static void phaseEntry(int number) {
        record("phaseEntry", number, null);
    }

    public static void phaseEntryOf(int number, Object object) {
        record("phaseEntryOf", number, object);
    }

    public static void phaseExit(int number) {
        record("phaseExit", number, null);
    }

    public static void phaseUnwind(int number) {
        record("phaseUnwind", number, null);
    }

    public static void phaseCaught(int number) {
        record("phaseCaught", number, null);
    }

    public static void storesOf(Object object) {
        record("storesOf", 0, object);
    }

    public static void storesOfElements(Object array) {
        record("storesOfElements", 0, array);
    }

    public static void storesOfStatics(Object of) {
        record("storesOfStatics", 0, of);
    }
}
