// SPDX-License-Identifier: Apache-2.0
package steptrace.junit;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.extension.ExtensionConfigurationException;
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

    /** Dynamic tests are no methods, whose calls could be phases: they would pass with any limit. */
    @Override
    public <T> T interceptTestFactoryMethod(Invocation<T> invocation, ReflectiveInvocationContext<Method> call,
            ExtensionContext context) throws Throwable {
        if (!Limit.of(call.getExecutable(), context.getRequiredTestClass()).isEmpty())
            throw new ExtensionConfigurationException(Subject.of(call.getExecutable(), context).name()
                    + ": limits do not hold for dynamic tests; measure in them, with steptrace.Allocations.measure()");
        return invocation.proceed();
    }

    private static void intercept(Invocation<Void> invocation, ReflectiveInvocationContext<Method> call,
            ExtensionContext context) throws Throwable {
        List<Limit> all = Limit.of(call.getExecutable(), context.getRequiredTestClass());
        if (all.isEmpty()) {
            invocation.proceed();
            return;
        }
        Subject subject = Subject.of(call.getExecutable(), context);
        all.forEach(limit -> limit.check(subject.name()));
        int warmups = Limit.warmups(all, subject.method(), subject.type());
        for (int i = 0; i < warmups; i++)
            again(call);
        List<Limit> limits = all.stream().filter(limit -> limit.kind() != Limit.Kind.GROWTH).toList();
        if (limits.isEmpty())
            invocation.proceed();
        else
            once(invocation, call, subject, limits);
        for (Limit limit : all)
            if (limit.kind() == Limit.Kind.GROWTH)
                Growth.judge(() -> again(call), subject, limit);
    }

    private static void once(Invocation<Void> invocation, ReflectiveInvocationContext<Method> call, Subject subject,
            List<Limit> limits) throws Throwable {
        List<Sites> sites = measure(invocation::proceed, subject, limits);
        boolean isWritten = false;
        for (int i = 0; Snapshot.isWritten() && i < limits.size(); i++)
            if (limits.get(i).kind() == Limit.Kind.LINE) {
                Snapshot.write(subject.name(), sites.get(i));
                isWritten = true;
            }
        if (isWritten)
            compare(sites, measure(() -> again(call), subject, limits), limits);
    }

    private static void again(ReflectiveInvocationContext<Method> call) throws Throwable {
        Method method = call.getExecutable();
        method.setAccessible(true);
        try {
            method.invoke(call.getTarget().orElse(null), call.getArguments().toArray());
        } catch (InvocationTargetException fault) {
            throw fault.getCause();
        }
    }

    /** A test that fails by itself is not judged. Returns what was counted for each limit. */
    private static List<Sites> measure(Subject.Call call, Subject subject, List<Limit> limits) throws Throwable {
        try (Recording recording = subject.recording()) {
            call.run();
            if (limits.stream().anyMatch(Limit::ofLive))
                Recording.collect();
            recording.end();
            List<Sites> sites = new ArrayList<>();
            for (Limit limit : limits)
                sites.add(recording.sites(limit.ofLive(), limit.site()));
            judge(recording, subject, limits, sites);
            return sites;
        }
    }

    private static void judge(Recording recording, Subject subject, List<Limit> limits, List<Sites> sites)
            throws IOException {
        StringBuilder faults = new StringBuilder();
        for (int i = 0; i < limits.size(); i++)
            faults.append(fault(subject, limits.get(i), sites.get(i)));
        if (!faults.isEmpty())
            fail(recording, subject, faults.toString());
    }

    /** Tells the reviewer, and keeps the trace if that is wanted. */
    static void fail(Recording recording, Subject subject, String fault) {
        fault = fault.stripTrailing();
        StringBuilder text = new StringBuilder(fault);
        try {
            Reviewer.tell(subject, fault);
            text.append(recording.kept());
        } catch (IOException later) {
            text.append('\n').append(later);
        }
        throw new AssertionError(text);
    }

    private static String fault(Subject subject, Limit limit, Sites sites) throws IOException {
        if (limit.kind() == Limit.Kind.LINE)
            return Snapshot.isWritten() ? "" : Snapshot.fault(subject, sites, limit);
        return limit.allows(sites) ? ""
                : subject.name() + (limit.ofLive() ? " leaves " : " allocates ")
                        + Sites.amount(sites.objects(), sites.bytes()) + "; " + limit.text() + " pass\n"
                        + sites.table(subject.frame());
    }

    /** When a line is written, a second call says whether the next run will find the same. */
    private static void compare(List<Sites> first, List<Sites> second, List<Limit> limits) {
        for (int i = 0; i < limits.size(); i++) {
            boolean isExact = limits.get(i).objects() == 0 && limits.get(i).bytes() == 0;
            String differences = first.get(i).differences(second.get(i));
            if (limits.get(i).kind() == Limit.Kind.LINE && isExact && !differences.isEmpty())
                throw new AssertionError("the line is written, but a second call differs: " + differences
                        + "\n  Caches and first uses: warmups = 1. Chance: objects = and bytes =, what may differ.");
        }
    }
}
