// SPDX-License-Identifier: Apache-2.0
package steptrace.junit;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.extension.ExtensionContext;
import steptrace.limits.Recording;

/**
 * The call of a test that is judged.
 *
 * @param method what is called, which the class may have inherited
 * @param type the test's class
 * @param name tells it apart from all others: "a.Test.parses", "a.Test.parses(int)#2"
 */
record Subject(Method method, Class<?> type, String name) {
    /** A call of the test's method. */
    interface Call {
        void run() throws Throwable;
    }

    private static final Pattern CALL = Pattern.compile("-invocation:(#\\d+)\\]");

    static Subject of(Method method, ExtensionContext context) {
        Class<?> type = context.getRequiredTestClass();
        String parameters = Arrays.stream(method.getParameterTypes()).map(Type::getTypeName)
                .collect(Collectors.joining(",", "(", ")"));
        Matcher calls = CALL.matcher(context.getUniqueId());
        StringBuilder name = new StringBuilder(type.getName() + "." + method.getName())
                .append(parameters.equals("()") ? "" : parameters);
        while (calls.find())
            name.append(calls.group(1));
        return new Subject(method, type, name.toString().replaceAll("\\R", "?"));
    }

    /** Begins a trace in which calls of the method are a phase. */
    Recording recording() throws IOException {
        return new Recording(name, Phases.with(method, type), Phases.pattern(method));
    }

    /** What its frame in a call stack begins with. */
    String frame() {
        return method.getDeclaringClass().getName() + "." + method.getName();
    }
}
