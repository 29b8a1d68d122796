// SPDX-License-Identifier: Apache-2.0
package steptrace.junit;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;

/** Records a trace of each test that has a limit, and fails the test if the trace exceeds it. */
public final class LimitsExtension implements InvocationInterceptor {
    /** A JVM records one trace at a time: tests with limits run one after the other. */
    private static final ReentrantLock ONE_AT_A_TIME = new ReentrantLock();

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
        ONE_AT_A_TIME.lock();
        try {
            warmUp(call, limits);
            measure(invocation, call.getExecutable(), limits);
        } finally {
            ONE_AT_A_TIME.unlock();
        }
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
    private static void measure(Invocation<Void> invocation, Method method, List<Limit> limits) throws Throwable {
        try (Recording recording = new Recording(method, limits.stream().anyMatch(Limit::allThreads))) {
            invocation.proceed();
            if (limits.stream().anyMatch(Limit::ofLive))
                Recording.collect();
            recording.end();
            judge(recording, limits);
        }
    }

    private static void judge(Recording recording, List<Limit> limits) throws IOException {
        List<String> faults = new ArrayList<>();
        for (Limit limit : limits) {
            Sites sites = recording.sites(limit);
            if (!limit.allows(sites))
                faults.add(recording.test() + (limit.ofLive() ? " leaves " : " allocates ") + sites.objects()
                        + " objects, " + sites.bytes() + " bytes; " + limit.text() + " pass\n"
                        + sites.table(recording.test()));
        }
        if (!faults.isEmpty())
            throw new AssertionError(String.join("\n", faults) + recording.kept());
    }
}
