// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=all
// FACT: alloc facts/Allocations$Plain 1000
// FACT: alloc facts/Allocations$Child 500
// FACT: alloc facts/Allocations$Parent 0
// FACT: alloc facts/Allocations$Generic 300
// FACT: alloc facts/Allocations$Inner 200
// FACT: alloc facts/Allocations$Pair 400
// FACT: alloc facts/Allocations$Abandoned 100
// FACT: between Primitives alloc [Z 100
// FACT: between Primitives alloc [C 100
// FACT: between Primitives alloc [S 100
// FACT: between Primitives alloc [F 100
// FACT: between Primitives alloc [D 100
// FACT: between Primitives alloc [J 100
// FACT: between Primitives alloc [B >=100
// FACT: between Primitives alloc [I >=100
// FACT: alloc [Lfacts/Allocations$Item; 250
// FACT: alloc facts/Allocations$Item 0
// FACT: alloc [[[Lfacts/Allocations$Cube; 10
// FACT: alloc [[Lfacts/Allocations$Cube; 30
// FACT: alloc [Lfacts/Allocations$Cube; 120
// FACT: alloc [[[Lfacts/Allocations$Partial; 10
// FACT: alloc [[Lfacts/Allocations$Partial; 20
// FACT: alloc [Lfacts/Allocations$Partial; 0
// FACT: alloc [[Lfacts/Allocations$Empty; 7
// FACT: alloc [Lfacts/Allocations$Empty; 0
// FACT: between Dimensions alloc [[[J 5
// FACT: between Dimensions alloc [[J 10
// FACT: between Dimensions alloc [J 30
// FACT: between Boxing alloc java/lang/Integer 100
// FACT: between Boxing alloc java/lang/Long 100
// FACT: between Boxing alloc java/lang/Short 100
// FACT: between Boxing alloc java/lang/Character 100
// FACT: between Boxing alloc java/lang/Float 100
// FACT: between Boxing alloc java/lang/Double 100
// FACT: between Boxing alloc java/lang/Boolean 0
// FACT: between Strings alloc java/lang/String >=1000
// FACT: between Strings alloc [B >=1000
// FACT: alloc [Lfacts/Allocations$Argument; 300
// FACT: alloc facts/Allocations$Argument 600
// FACT: alloc facts/Allocations$$Lambda* 612
// FACT: alloc facts/Allocations$1 150
// FACT: alloc facts/Allocations$Copied 600
// FACT: alloc [Lfacts/Allocations$CopiedItem; 400
// FACT: alloc [Lfacts/Allocations$Colour; 101
// FACT: alloc facts/Allocations$Colour 3
// FACT: alloc facts/Allocations$Reflected 400
// FACT: alloc facts/Allocations$Failing 50
// FACT: alloc [Lfacts/Allocations$ReflectedItem; 260
// FACT: alloc [[Lfacts/Allocations$ReflectedItem; 20
// FACT: alloc facts/Allocations$Handled 100
// FACT: alloc [Lfacts/Allocations$HandledItem; 100
// FACT: alloc facts/Allocations$Bare 100
// FACT: alloc facts/Allocations$BareItem 5
// FACT: alloc [Lfacts/Allocations$BareItem; 5
// FACT: alloc facts/Allocations$Read 101
// FACT: alloc facts/Allocations$ReadBase 0
// FACT: alloc [Lfacts/Allocations$ReadItem; 101
// FACT: alloc [Lfacts/Allocations$Streamed; >=1
// FACT: alloc facts/Allocations$Streamed 77
// FACT: alloc facts/Allocations$Problem 150
// FACT: between Virtual alloc java/lang/ArithmeticException 50
// FACT: between Virtual alloc java/lang/NullPointerException 50
// FACT: between Virtual alloc java/lang/ClassCastException 50
// FACT: between Virtual alloc java/lang/ArrayIndexOutOfBoundsException 50
// FACT: between Virtual alloc java/lang/NegativeArraySizeException 50
// FACT: between Virtual alloc java/lang/ArrayStoreException 50
// FACT: between Virtual alloc java/lang/StackTraceElement >=50
// FACT: between Virtual alloc java/lang/reflect/Method >=20
// FACT: between Virtual alloc java/lang/reflect/Field >=2
package facts;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/** Each way in which an object comes into being, and how often. */
public class Allocations {
    static class Plain { int value; }
    static class Parent { long value; }
    static class Child extends Parent { Object other; }
    static class Generic<T> { T value; Generic(T value) { this.value = value; } }
    class Inner { int value = base; }
    record Pair(Object left, Object right) {}
    static class Item {}
    static class Cube {}
    static class Partial {}
    static class Empty {}
    static class Argument {}
    static class Copied implements Cloneable {
        long a, b;
        @Override public Copied clone() throws CloneNotSupportedException { return (Copied) super.clone(); }
    }
    static class CopiedItem {}
    enum Colour { RED, GREEN, BLUE }
    static class Reflected { public Reflected() {} public Reflected(int ignored) {} }
    static class Failing { public Failing() { throw new Problem(); } }
    static class ReflectedItem {}
    static class Handled {}
    static class HandledItem {}
    static class BareItem { }
    static class Bare {
        static { // below allocateInstance()
            for (int i = 0; i < 5; i++)
                sink = new BareItem[] {new BareItem()};
        }

        Bare() { throw new AssertionError("no constructor runs"); }
    }
    static class ReadBase { int base = 1; }
    static class Read extends ReadBase implements Serializable {
        private static final long serialVersionUID = 1;
        int value = 5;
        ReadItem[] items = new ReadItem[3];
    }
    static class ReadItem implements Serializable { private static final long serialVersionUID = 1; }
    static class Streamed {}
    static class Abandoned { Abandoned() { if (armed) throw new Problem(); } }
    static class Problem extends RuntimeException {}

    /** Stands at the begin and at the end of a section: the facts "between NAME". */
    static class Primitives {}
    static class Dimensions {}
    static class Boxing {}
    static class Strings {}
    static class Virtual {}

    static volatile Object sink;
    static volatile boolean armed = true;
    final int base = 3;

    static void plain() {
        for (int i = 0; i < 1000; i++)
            sink = new Plain();
        for (int i = 0; i < 500; i++)
            sink = new Child();
        for (int i = 0; i < 300; i++)
            sink = new Generic<>("value");
        Allocations outer = new Allocations();
        for (int i = 0; i < 200; i++)
            sink = outer.new Inner();
        for (int i = 0; i < 400; i++)
            sink = new Pair(outer, null);
        for (int i = 0; i < 100; i++) {
            try {
                sink = new Abandoned();
            } catch (Problem p) {
                sink = p;
            }
        }
        for (int i = 0; i < 150; i++)
            sink = new Object() {};
    }

    static void primitives() {
        sink = new Primitives();
        for (int i = 0; i < 100; i++) {
            sink = new boolean[i];
            sink = new char[i];
            sink = new short[i];
            sink = new float[i];
            sink = new double[i];
            sink = new long[i];
            sink = new byte[i];
            sink = new int[i * 1000];
        }
        sink = new Primitives();
        for (int i = 0; i < 250; i++)
            sink = new Item[i];
    }

    static void dimensions() {
        for (int i = 0; i < 10; i++) {
            sink = new Cube[3][4][5];
            sink = new Partial[2][3][];
        }
        for (int i = 0; i < 7; i++)
            sink = new Empty[0][9];
        sink = new Dimensions();
        for (int i = 0; i < 5; i++)
            sink = new long[2][3][4];
        sink = new Dimensions();
    }

    static void boxing() {
        box(1);
        sink = new Boxing();
        box(100);
        sink = new Boxing();
    }

    static void box(int count) {
        for (int i = 0; i < count; i++) {
            sink = (Integer) (100000 + i);
            sink = (Long) (100000L + i);
            sink = (Short) (short) (1000 + i);
            sink = (Character) (char) (1000 + i);
            sink = (Float) (float) i;
            sink = (Double) (double) i;
            sink = (Boolean) (i % 2 == 0);
        }
    }

    static void strings() {
        sink = new Strings();
        for (int i = 0; i < 1000; i++)
            sink = "number " + i + sink.hashCode();
        sink = new Strings();
        for (int i = 0; i < 100; i++)
            sink = ("interned " + i).intern();
    }

    static Object varargs(Argument... arguments) {
        return arguments;
    }

    static void calls() {
        for (int i = 0; i < 300; i++)
            sink = varargs(new Argument(), new Argument());
        for (int i = 0; i < 600; i++) {
            int captured = i;
            sink = (IntSupplier) () -> captured;
        }
        for (int i = 0; i < 600; i++)
            sink = (Supplier<String>) () -> "captures nothing, is made once";
    }

    static void clones() throws CloneNotSupportedException {
        Copied original = new Copied();
        for (int i = 0; i < 599; i++)
            sink = original.clone();
        CopiedItem[] items = new CopiedItem[5];
        for (int i = 0; i < 133; i++) {
            sink = items.clone();
            sink = Arrays.copyOf(items, i);
            sink = Arrays.copyOfRange(items, 1, 4);
        }
        for (int i = 0; i < 100; i++)
            sink = Colour.values(); // and one when the class is initialized
    }

    static void reflection() throws ReflectiveOperationException {
        Constructor<Reflected> first = Reflected.class.getConstructor();
        Constructor<Reflected> second = Reflected.class.getConstructor(int.class);
        for (int i = 0; i < 200; i++) {
            sink = first.newInstance();
            sink = second.newInstance(i % 100);
        }
        Constructor<Failing> failing = Failing.class.getConstructor();
        for (int i = 0; i < 50; i++) {
            try {
                sink = failing.newInstance();
            } catch (ReflectiveOperationException e) {
                sink = e;
            }
        }
        for (int i = 0; i < 200; i++)
            sink = Array.newInstance(ReflectedItem.class, i);
        for (int i = 0; i < 20; i++)
            sink = Array.newInstance(ReflectedItem.class, 3, 4);
    }

    static void handles() throws Throwable {
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        MethodHandle maker = lookup.findConstructor(Handled.class, MethodType.methodType(void.class));
        MethodHandle arrayMaker = MethodHandles.arrayConstructor(HandledItem[].class);
        for (int i = 0; i < 100; i++) {
            sink = (Object) (Handled) maker.invokeExact();
            sink = (Object) (HandledItem[]) arrayMaker.invokeExact(i);
        }
        Field field = Class.forName("sun.misc.Unsafe").getDeclaredField("theUnsafe");
        field.setAccessible(true);
        Object unsafe = field.get(null);
        java.lang.reflect.Method make = unsafe.getClass().getMethod("allocateInstance", Class.class);
        for (int i = 0; i < 100; i++)
            sink = make.invoke(unsafe, Bare.class);
    }

    static void deserialization() throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(new Read());
        }
        for (int i = 0; i < 100; i++)
            sink = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())).readObject();
    }

    static void streams() {
        sink = IntStream.range(0, 77).mapToObj(i -> new Streamed()).toArray(Streamed[]::new);
    }

    @SuppressWarnings("divzero")
    static void virtualMachine() {
        provoke(1);
        sink = new Virtual();
        provoke(50);
        sink = Allocations.class.getDeclaredMethods();
        sink = Plain.class.getDeclaredFields();
        sink = Allocations.class.getDeclaredFields();
        sink = new Virtual();
    }

    static void provoke(int count) {
        List<Runnable> faults = List.of(
            () -> sink = 1 / (count - count),
            () -> sink = ((Pair) nothing()).left(),
            () -> sink = (Pair) (Object) "string",
            () -> sink = (new int[count])[count],
            () -> sink = new int[-count],
            () -> ((Object[]) new String[1])[0] = 1);
        for (int i = 0; i < count; i++) {
            for (Runnable fault : faults) {
                try {
                    fault.run();
                } catch (RuntimeException e) {
                    sink = e.getStackTrace();
                }
            }
        }
    }

    static Object nothing() {
        return null;
    }

    public static void main(String[] args) throws Throwable {
        plain();
        primitives();
        dimensions();
        boxing();
        strings();
        calls();
        clones();
        reflection();
        handles();
        deserialization();
        streams();
        virtualMachine();
        System.out.println("done");
    }
}
