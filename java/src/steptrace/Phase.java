// SPDX-License-Identifier: Apache-2.0
package steptrace;

/**
 * Marks phases of a program for StepTrace. {@code steptrace stats --phase measure} then reports only
 * what happened in phases of this name, and so do all verbs that select part of a trace.
 *
 * <p>These methods do nothing. The StepTrace agent, if the JVM has it, adds its own code to them.
 * They allocate nothing in either case, and throw nothing.
 *
 * <pre>{@code
 * Phase.begin("measure");
 * try {
 *     work();
 * } finally {
 *     Phase.end("measure");
 * }
 * }</pre>
 */
public final class Phase {
    private Phase() {
    }

    /** Begins a phase of the calling thread, inside the phases that this thread has open. */
    public static void begin(String name) {
    }

    /** Ends the innermost phase that this thread began with {@link #begin}. */
    public static void end() {
    }

    /** Ends the innermost phase of this name, and the phases that this thread began in it. */
    public static void end(String name) {
    }

    /** Begins a phase of the whole program: it has the events of all threads. */
    public static void beginProgram(String name) {
    }

    /** Ends the phase of the program that began last. Any thread may end it. */
    public static void endProgram() {
    }

    /** Ends the phase of the program of this name that began last. */
    public static void endProgram(String name) {
    }
}
