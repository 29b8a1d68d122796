// SPDX-License-Identifier: Apache-2.0
package steptrace.junit;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.extension.ExtensionConfigurationException;
import org.junit.platform.commons.support.AnnotationSupport;
import steptrace.limits.Sites;

/** What an annotation says, whichever it is. */
record Limit(Kind kind, long bytes, long objects, int calls, String site, int warmups, boolean allThreads) {
    /**
     * LINE: what a line of the snapshot says, with so many bytes and objects more or fewer. GROWTH: no more bytes of so many
     * calls than of half of them.
     */
    enum Kind { ALLOCATED, LIVE, LINE, GROWTH }

    /** The limits of a test: those of its method, and of its class where the method has none of the kind. */
    static List<Limit> of(Method method, Class<?> test) {
        List<Limit> limits = new ArrayList<>();
        add(limits, method, test, element -> AnnotationSupport.findAnnotation(element, MaxAllocated.class)
                .map(at -> most(Kind.ALLOCATED, at.bytes(), at.objects(), at.site(), at.warmups(), at.allThreads())));
        add(limits, method, test, element -> AnnotationSupport.findAnnotation(element, NoAllocation.class)
                .map(at -> most(Kind.ALLOCATED, 0, 0, at.site(), at.warmups(), at.allThreads())));
        add(limits, method, test, element -> AnnotationSupport.findAnnotation(element, MaxLive.class)
                .map(at -> most(Kind.LIVE, at.bytes(), at.objects(), at.site(), at.warmups(), at.allThreads())));
        add(limits, method, test, element -> AnnotationSupport.findAnnotation(element, AllocationSnapshot.class)
                .map(at -> most(Kind.LINE, at.bytes(), at.objects(), at.site(), at.warmups(), at.allThreads())));
        add(limits, method, test, element -> AnnotationSupport.findAnnotation(element, NoGrowth.class)
                .map(at -> new Limit(Kind.GROWTH, 0, 0, at.calls(), at.site(), at.warmups(), at.allThreads())));
        return limits;
    }

    private static Limit most(Kind kind, long bytes, long objects, String site, int warmups, boolean allThreads) {
        return new Limit(kind, bytes, objects, Integer.MAX_VALUE, site, warmups, allThreads);
    }

    /** A limit that limits nothing is a fault of the test. */
    void check(String test) {
        if (bytes == Long.MAX_VALUE && objects == Long.MAX_VALUE)
            throw new ExtensionConfigurationException(test + ": its limit has neither bytes nor objects: all would pass");
        if (bytes < 0 || objects < 0 || warmups < 0 || calls < 2)
            throw new ExtensionConfigurationException(test + ": its limit has a number below 0, or fewer than 2 calls");
    }

    /** How often the method is called before. */
    static int warmups(List<Limit> limits, Method method, Class<?> test) {
        int most = AnnotationSupport.findAnnotation(method, Warmup.class)
                .or(() -> ofType(test, type -> AnnotationSupport.findAnnotation(type, Warmup.class))).map(Warmup::value).orElse(0);
        return limits.stream().mapToInt(Limit::warmups).reduce(most, Math::max);
    }

    boolean ofLive() {
        return kind == Kind.LIVE || kind == Kind.GROWTH;
    }

    private static void add(List<Limit> limits, Method method, Class<?> test,
            Function<AnnotatedElement, Optional<Limit>> find) {
        find.apply(method).or(() -> ofType(test, find)).ifPresent(limits::add);
    }

    /** What the class has, or else the one around it if it is a nested class of tests. */
    private static <T> Optional<T> ofType(Class<?> test, Function<AnnotatedElement, Optional<T>> find) {
        Optional<T> found = find.apply(test);
        boolean isNested = test.getEnclosingClass() != null && AnnotationSupport.isAnnotated(test, Nested.class);
        return found.isPresent() || !isNested ? found : ofType(test.getEnclosingClass(), find);
    }

    boolean allows(Sites sites) {
        return sites.objects() <= objects && sites.bytes() <= bytes;
    }

    /** "at most 3 objects and 64 bytes". */
    String text() {
        List<String> parts = new ArrayList<>();
        if (objects != Long.MAX_VALUE)
            parts.add(objects + (objects == 1 ? " object" : " objects"));
        if (bytes != Long.MAX_VALUE)
            parts.add(bytes + " bytes");
        return "at most " + String.join(" and ", parts) + (site.isEmpty() ? "" : " in " + site);
    }
}
