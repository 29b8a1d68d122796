// SPDX-License-Identifier: Apache-2.0
package steptrace.junit;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import steptrace.limits.Recording;
import steptrace.limits.Sites;

/** Records a trace of each test that has a limit, and fails the test if the trace exceeds it. */
public final class LimitsExtension implements InvocationInterceptor {
    /** JUnit makes it, for the annotations of this package. */
    public LimitsExtension() {
    }

    @Override
    public void interceptTestMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> call,
            ExtensionContext context) throws Throwable {
        intercept(invocation, call, context);
    }

    @Override
    public void interceptTestTemplateMethod(Invocation<Void> invocation,
            ReflectiveInvocationContext<Method> call, ExtensionContext context) throws Throwable {
        intercept(invocation, call, context);
    }

    private static void intercept(Invocation<Void> invocation, ReflectiveInvocationContext<Method> call,
            ExtensionContext context) throws Throwable {
        List<Limit> limits = Limit.of(call.getExecutable(), context.getRequiredTestClass());
        if (limits.isEmpty()) {
            invocation.proceed();
            return;
        }
        warmUp(call, limits);
        measure(invocation, call.getExecutable(), context.getRequiredTestClass(), limits);
    }

    private static void warmUp(ReflectiveInvocationContext<Method> call, List<Limit> limits) throws Throwable {
        int rounds = limits.stream().mapToInt(Limit::warmups).max().orElse(0);
        Method method = call.getExecutable();
        if (rounds > 0)
            method.setAccessible(true);
        try {
            for (int i = 0; i < rounds; i++)
                method.invoke(call.getTarget().orElse(null), call.getArguments().toArray());
        } catch (InvocationTargetException fault) {
            throw fault.getCause();
        }
    }

    /** A test that fails by itself is not judged. */
    private static void measure(Invocation<Void> invocation, Method method, Class<?> test, List<Limit> limits)
            throws Throwable {
        String name = method.getDeclaringClass().getName() + "." + method.getName();
        try (Recording recording = new Recording(name, Phases.with(method, test), Phases.pattern(method))) {
            invocation.proceed();
            if (limits.stream().anyMatch(Limit::ofLive))
                Recording.collect();
            recording.end();
            judge(recording, name, limits);
        }
    }

    private static void judge(Recording recording, String name, List<Limit> limits) throws IOException {
        List<String> faults = new ArrayList<>();
        for (Limit limit : limits) {
            Sites sites = recording.sites(limit.ofLive(), limit.site());
            if (!limit.allows(sites))
                faults.add(name + (limit.ofLive() ? " leaves " : " allocates ")
                        + Sites.amount(sites.objects(), sites.bytes()) + "; " + limit.text() + " pass\n"
                        + sites.table(name));
        }
        if (!faults.isEmpty())
            throw new AssertionError(String.join("\n", faults) + recording.kept());
    }
}
