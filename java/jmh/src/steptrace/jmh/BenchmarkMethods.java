// SPDX-License-Identifier: Apache-2.0
package steptrace.jmh;

import java.io.IOException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Group;

/** The methods of a benchmark: of a group, all of them. */
final class BenchmarkMethods {
    private BenchmarkMethods() {
    }

    /**
     * Patterns as with {@code steptrace --site}, with the classes that have the code: a benchmark may be inherited.
     *
     * @param benchmark as JMH names it
     */
    static List<String> sites(String benchmark) throws IOException {
        int dot = benchmark.lastIndexOf('.');
        List<String> sites = new ArrayList<>();
        for (Method method : named(benchmark.substring(0, dot)).getMethods())
            if (method.isAnnotationPresent(Benchmark.class) && !method.isBridge()
                    && name(method).equals(benchmark.substring(dot + 1)))
                sites.add(method.getDeclaringClass().getName() + "." + method.getName());
        if (sites.isEmpty())
            throw new IOException("no method of the benchmark " + benchmark + " is found");
        return sites;
    }

    private static String name(Method method) {
        Group group = method.getAnnotation(Group.class);
        return group == null ? method.getName() : group.value();
    }

    /** JMH writes a.b.Outer.Inner of a nested class; any of its dots may be a dollar sign. */
    private static Class<?> named(String name) throws IOException {
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        for (int at = name.length(); at >= 0; at = name.lastIndexOf('.', at - 1)) {
            try {
                return Class.forName(name.substring(0, at) + name.substring(at).replace('.', '$'), false, loader);
            } catch (ClassNotFoundException fault) {
                continue;
            }
        }
        throw new IOException("the class of the benchmark " + name + " is not found");
    }
}
