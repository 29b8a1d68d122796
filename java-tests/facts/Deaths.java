// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=none
package facts;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;

/** Objects whose deaths lie between two calls of mark(); tests/jvm/reference_cases.py has the list of them. */
public class Deaths {
    static class Thing {
        Object held;
        void use() { }
    }
    static class Field extends Thing { }
    static class Below extends Thing { }
    static class Element extends Thing { }
    static class Circle extends Thing { }
    static class Static extends Thing { }
    static class Weak extends Thing { }
    static class Soft extends Thing { }
    static class Phantom extends Thing { }
    static class Local extends Thing { }
    static class Value extends Thing { }
    static class Captured extends Thing { }
    static class OfThread extends Thing { }
    static class Moved extends Thing { }
    static class Copied extends Thing { }

    static final Thing holder = new Thing();
    static Object[] array = new Object[4];
    static Object root, other;
    static final Map<Integer, Object> cache = new HashMap<>();
    static WeakReference<Object> weak;
    static SoftReference<Object> soft;
    static PhantomReference<Object> phantom;
    static Supplier<Object> lambda;
    static int marks;

    static void mark() { marks++; }

    // What makes an object has no frame any more when it dies.
    static void setField() {
        holder.held = new Field();
        ((Thing) holder.held).held = new Below();
    }
    static void setElement() { array[1] = new Element(); }
    static void setCircle() {
        Circle a = new Circle(), b = new Circle();
        a.held = b;
        b.held = a;
        root = a;
    }
    static void setStatic() { root = new Static(); }
    static void setWeak() {
        weak = new WeakReference<>(root = new Weak());
        soft = new SoftReference<>(other = new Soft());
        phantom = new PhantomReference<>(array[2] = new Phantom(), new ReferenceQueue<>());
    }
    static void local() {
        Local local = new Local();
        mark();
        local.use();
    }
    static void setValue() { cache.put(7, new Value()); }
    static void setLambda() {
        Captured captured = new Captured();
        lambda = () -> captured;
    }
    static void inThread() throws InterruptedException {
        Thread thread = new Thread(() -> {
            ThreadLocal<Object> local = new ThreadLocal<>();
            local.set(new OfThread());
        });
        thread.start();
        thread.join();
    }
    static void setMoved() {
        array[0] = new Moved();
        System.arraycopy(array, 0, array, 3, 1);
        array[0] = null;
    }
    static void setCopied() {
        Object[] from = {new Copied()};
        root = from.clone();
    }

    /** Whose frame is there before it has probes. */
    static void run() throws InterruptedException {
        scenes();
    }

    static void scenes() throws InterruptedException {
        setField();
        mark();
        holder.held = null;
        mark();
        setElement();
        mark();
        array[1] = null;
        mark();
        setCircle();
        mark();
        root = null;
        mark();
        setStatic();
        mark();
        root = null;
        mark();
        setWeak();
        mark();
        root = array[2] = other = null;
        mark();
        local();
        mark();
        setValue();
        mark();
        cache.remove(7);
        mark();
        setLambda();
        mark();
        lambda = null;
        mark();
        inThread();
        mark();
        setMoved();
        mark();
        array[3] = null;
        mark();
        setCopied();
        mark();
        root = null;
        mark();
        new Thing();
        System.gc();
    }

    public static void main(String[] arguments) throws InterruptedException {
        setLambda(); // classes and call sites are there
        inThread();
        cache.put(1, lambda.get());
        run();
        System.out.println(soft.get() != null && weak.get() == null);
    }
}
