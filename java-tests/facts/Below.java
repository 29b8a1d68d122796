// SPDX-License-Identifier: Apache-2.0
// TEST: collectors=G1,Z
package facts;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;

/** What a class loader allocates below native methods that list members: each object is one. */
public class Below {
    static class Made {}

    static class Type extends Exception {}

    interface Wide {}

    static class Wanted {
        Type field;
        Wanted() throws Type {}
        Type method(Type in, Wide wide) { return in; }
        Object enclosed(Type in) { return new Object() { Type own = in; }; }
    }

    record Parts(Type type, Wide wide) {}

    sealed interface Sealed permits One, Two {}
    static final class One implements Sealed {}
    static final class Two implements Sealed {}

    static int arrays, clones, objects;

    static class Loader extends ClassLoader {
        Loader() { super(Below.class.getClassLoader()); }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith("facts.Below") || name.endsWith("Made"))
                return super.loadClass(name, resolve);
            Class<?> known = findLoadedClass(name);
            if (known != null)
                return known;
            make();
            try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    static void make() {
        for (int i = 0; i < 5; i++) {
            Made[] made = new Made[i + 1];
            made[i] = new Made();
            Support.sink = made.clone();
            arrays += 2;
            objects++;
        }
        Support.sink = new Made[2][3];
        arrays += 2;
    }

    interface Listing { Object[] of(Class<?> wanted) throws Exception; }

    static void list(String name, Listing listing) throws Exception {
        int before = objects;
        Class<?> wanted = new Loader().loadClass("facts.Below$" + name);
        int loaded = objects;
        System.out.println(name + " " + (loaded - before) + " " + listing.of(wanted).length + " " + (objects > loaded));
    }

    public static void main(String[] args) throws Exception {
        list("Wanted", Class::getDeclaredFields);
        list("Wanted", Class::getDeclaredMethods);
        list("Wanted", Class::getDeclaredConstructors);
        list("Parts", Class::getRecordComponents);
        list("Sealed", Class::getPermittedSubclasses);
        list("Wanted", Class::getNestMembers);
        list("Wanted$1", wanted -> new Object[] {wanted.getEnclosingMethod()});
        list("Wanted", Class::getDeclaredClasses);
        Support.collect();
        Support.fact("alloc [Lfacts/Below$Made; " + arrays);
        Support.fact("alloc facts/Below$Made " + objects);
        Support.fact("freed facts/Below$Made " + objects);
    }
}
