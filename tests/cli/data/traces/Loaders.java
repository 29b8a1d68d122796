/* SPDX-License-Identifier: Apache-2.0 */
/* One class from two loaders, recorded as loaders.step: two entries of one name, with objects, calls, phases, and two threads.
 * javac -g Loaders.java && java -Xmx16m -XX:+UseSerialGC -agentpath:libtracer.so=file=loaders.step,stack=4,existing=no,
 * events=class+alloc+free+thread+method,start=Loaders.main,phase=Loaders.run Loaders */
import java.io.InputStream;

public class Loaders {
    public static class Item {
        static Object[] kept = new Object[40];

        static void make(int count) {
            for (int i = 0; i < count; i++)
                kept[i % 40] = i % 3 == 0 ? new Item() : new long[i % 7];
        }
    }

    /* Defines Item itself; other classes come from the parent. */
    static class Own extends ClassLoader {
        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals("Loaders$Item"))
                return super.loadClass(name, resolve);
            try (InputStream in = Loaders.class.getResourceAsStream("Loaders$Item.class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (java.io.IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    static void run(int count) {
        try {
            Class<?> item = new Own().loadClass("Loaders$Item");
            java.lang.reflect.Method make = item.getDeclaredMethod("make", int.class);
            make.setAccessible(true);
            make.invoke(null, count);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] args) throws Exception {
        Thread other = new Thread(() -> run(120), "other");
        run(300);
        other.start();
        other.join();
        System.gc();
        run(60);
    }
}
