// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=none
package facts;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Field;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;

/** Stores of references in all ways; tests/jvm/reference_cases.py has the list of them. */
public class Stores {
    static class Node implements Cloneable {
        Node next;
        volatile Object value;
        static Node first;
        Node copy() throws CloneNotSupportedException { return (Node) clone(); }
    }

    /** Its fields are set before super(). */
    class Inner extends Node {
        final Node[] mine;
        Inner(Node[] mine) { this.mine = mine; }
        Node outer() { return Stores.this.kept; }
    }

    static class Saved implements Serializable {
        private static final long serialVersionUID = 1;
        Saved other;
    }

    Node kept;
    static Node[] all;
    static final AtomicReferenceFieldUpdater<Node, Object> UPDATER =
        AtomicReferenceFieldUpdater.newUpdater(Node.class, Object.class, "value");
    static final VarHandle VALUE, ELEMENT = MethodHandles.arrayElementVarHandle(Node[].class);
    static final MethodHandle SETTER;
    static final Field NEXT, FIRST;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            VALUE = lookup.findVarHandle(Node.class, "value", Object.class);
            SETTER = lookup.findSetter(Node.class, "next", Node.class);
            NEXT = Node.class.getDeclaredField("next");
            FIRST = Node.class.getDeclaredField("first");
        } catch (ReflectiveOperationException e) {
            throw new Error(e);
        }
    }

    static void plain(Stores stores, Node a, Node b) {
        a.next = b;
        a.next = null;
        Node.first = a;
        stores.kept = a;
    }

    static void arrays(Node a, Node b) throws CloneNotSupportedException {
        Node[] four = new Node[4];
        four[1] = a;
        four[2] = b;
        all = four;
        Object[] objects = new Node[6];
        System.arraycopy(four, 1, objects, 3, 2);
        System.arraycopy(objects, 3, objects, 4, 2);
        Node[] clone = four.clone();
        Node[] more = Arrays.copyOf(clone, 5);
        Node[] range = Arrays.copyOfRange(more, 1, 3);
        Node[][] deep = new Node[2][1];
        deep[1][0] = range[0];
        a.copy();
        System.arraycopy(new int[3], 0, new int[3], 0, 3);
        try {
            ((Object[]) four)[0] = "no Node";
        } catch (ArrayStoreException e) {
            /* nothing was stored */
        }
        try {
            four[7] = a;
        } catch (ArrayIndexOutOfBoundsException e) {
            /* nothing was stored */
        }
    }

    static void handles(Node a, Node b) throws Throwable {
        VALUE.set(a, b);
        VALUE.setVolatile(a, a);
        VALUE.compareAndSet(a, b, b);
        VALUE.compareAndSet(a, a, b);
        VALUE.compareAndExchange(a, b, a);
        VALUE.getAndSet(a, b);
        ELEMENT.set(all, 3, b);
        UPDATER.lazySet(a, a);
        UPDATER.compareAndSet(a, b, b);
        UPDATER.getAndSet(a, b);
        SETTER.invokeExact(a, b);
        NEXT.set(b, a);
        FIRST.set(null, b);
    }

    static void saved() throws Exception {
        Saved saved = new Saved();
        saved.other = saved;
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (ObjectOutputStream objects = new ObjectOutputStream(out)) {
            objects.writeObject(saved);
        }
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(out.toByteArray()))) {
            in.readObject();
        }
    }

    public static void main(String[] args) throws Throwable {
        Stores stores = new Stores();
        Node a = new Node(), b = new Node();
        plain(stores, a, b);
        arrays(a, b);
        stores.new Inner(all);
        handles(a, b);
        saved();
        System.out.println(stores.kept == a);
    }
}
