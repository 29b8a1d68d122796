// SPDX-License-Identifier: Apache-2.0
package steptrace.junit;

import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.platform.commons.annotation.Testable;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.commons.support.HierarchyTraversalMode;
import org.junit.platform.commons.support.ReflectionSupport;
import steptrace.Agent;

/**
 * The option phase= of the traces: the tests with limits whose calls are phases. The agent changes the classes again when
 * it differs from that of the last trace, which takes longer than the trace of a small test. So it names
 * the other tests of the class, too, as many as the agent takes.
 */
final class Phases {
    /** The agent takes 64 patterns in 8,192 bytes. */
    private static final int MOST = 60, MOST_LETTERS = 6000;

    private static final Set<String> named = new LinkedHashSet<>();
    private static final Set<String> before = new LinkedHashSet<>();

    private Phases() {
    }

    /**
     * A pattern for the phase's name. What options and patterns use themselves becomes a star, and so do letters that the
     * platform's charset, in which both are handed on, has otherwise than traces.
     */
    static String pattern(Method method) {
        String name = method.getDeclaringClass().getName() + "." + method.getName();
        boolean isUnicode = Agent.nameCharset().equals(StandardCharsets.UTF_8);
        return Pattern.compile("[^\\w.$ -]+").matcher(name)
                .replaceAll(at -> isUnicode && isText(at.group()) ? at.group() : "*");
    }

    private static boolean isText(String part) {
        return part.codePoints().allMatch(Character::isLetterOrDigit);
    }

    /** The items for the test and others of its class, separated by +. */
    static synchronized String with(Method method, Class<?> test) {
        String wanted = item(method, Limit.of(method, test));
        if (!named.contains(wanted)) {
            before.addAll(named);
            named.clear();
            int letters = add(wanted, 0);
            List<Method> others = ReflectionSupport.findMethods(test,
                    other -> AnnotationSupport.isAnnotated(other, Testable.class), HierarchyTraversalMode.TOP_DOWN);
            for (Method other : others)
                letters = add(other, test, letters);
        }
        return String.join("+", named);
    }

    private static int add(Method method, Class<?> test, int letters) {
        List<Limit> limits = Limit.of(method, test);
        String item = item(method, limits);
        return limits.isEmpty() || before.contains(item) ? letters : add(item, letters);
    }

    private static int add(String item, int letters) {
        int more = letters + item.length() + 1;
        boolean fits = named.size() < MOST && (more <= MOST_LETTERS || named.isEmpty());
        return fits && named.add(item) ? more : letters;
    }

    private static String item(Method method, List<Limit> limits) {
        return (limits.stream().anyMatch(Limit::allThreads) ? "program:" : "threads:") + pattern(method);
    }
}
