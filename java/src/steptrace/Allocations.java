// SPDX-License-Identifier: Apache-2.0
package steptrace;

import java.io.IOException;
import steptrace.limits.Recording;
import steptrace.limits.Sites;

/**
 * What a piece of code allocates in the calling thread and in those that it starts, to the object and to the byte, for any test framework:
 *
 * <pre>{@code
 * Allocations of = Allocations.measure(() -> shop.checkout(cart));
 * assertTrue(of.objects() <= 12, of::toString);
 * }</pre>
 *
 * <p>{@code -Dsteptrace.command=FILE} reads the traces with another command than that of the JAR file.
 */
public final class Allocations {
    /** What is measured. */
    @FunctionalInterface
    public interface Work {
        /** Does it. */
        void run() throws Exception;
    }

    private static final String CALL = "steptrace.Allocations.call";

    private final Sites sites;

    private Allocations(Sites sites) {
        this.sites = sites;
    }

    /**
     * Measures what the work allocates. Loading classes and linking lambdas is no part of it. Measurements come one after
     * the other.
     *
     * @throws IOException if the JVM allows no exact counts, or the trace cannot be read
     */
    public static Allocations measure(Work work) throws Exception {
        return of(work, false);
    }

    /** Measures what the work leaves behind: what lives of it when it has returned and the heap has been collected. */
    public static Allocations measureLive(Work work) throws Exception {
        return of(work, true);
    }

    private static Allocations of(Work work, boolean ofLive) throws Exception {
        try (Recording recording = new Recording("measure", "threads:" + CALL, CALL)) {
            call(work);
            if (ofLive)
                Recording.collect();
            recording.end();
            return new Allocations(recording.sites(ofLive, ""));
        }
    }

    /** The phase. */
    private static void call(Work work) throws Exception {
        work.run();
    }

    /** How many objects. */
    public long objects() {
        return sites.objects();
    }

    /** Their sizes together. */
    public long bytes() {
        return sites.bytes();
    }

    /** Both, and the largest sites with classes and lines. */
    @Override
    public String toString() {
        return Sites.amount(objects(), bytes()) + "\n" + sites.table(CALL);
    }
}
