// SPDX-License-Identifier: Apache-2.0
package steptrace.junit;

import java.io.IOException;
import java.lang.ref.WeakReference;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import steptrace.Agent;

/** The trace of one test, in which the calls of the test's method are a phase. */
final class Recording implements AutoCloseable {
    private static final String DEPTH = "256";
    private static final int COLLECTIONS = 50;
    /** What the JVM calls once for a class or a call site: no part of what the test does. */
    private static final List<String> ONCE = List.of("!java.lang.ClassLoader.loadClass",
            "!java.lang.invoke.MethodHandleNatives.*");

    private final String test;
    private final Path directory;
    private final Path trace;
    private boolean isRecording;

    Recording(Method method, boolean allThreads) throws IOException {
        test = method.getDeclaringClass().getName() + "." + method.getName();
        directory = Files.createTempDirectory("steptrace-test-");
        trace = directory.resolve("test.step");
        try { // nothing else of a test's JVM has to go on meanwhile, so gentle=no
            Agent.command("file=" + trace + ",existing=no,gentle=no,events=alloc+free,stack=" + DEPTH + ",phase="
                    + (allThreads ? "program:" : "") + pattern());
            isRecording = true;
        } finally {
            if (!isRecording)
                close();
        }
    }

    /** A pattern for the phase's name; what options and patterns use themselves becomes a star. */
    private String pattern() {
        return test.replaceAll("[^\\w.$ -]", "*");
    }

    String test() {
        return test;
    }

    /** Collects the heap until a new object is found dead, twice: what it kept dies with the second. */
    static void collect() throws IOException {
        for (int round = 0; round < 2; round++) {
            WeakReference<Object> canary = new WeakReference<>(new Object());
            for (int i = 0; !canary.refersTo(null); i++) {
                if (i == COLLECTIONS)
                    throw new IOException("System.gc() does not collect: @MaxLive needs it");
                System.gc();
            }
        }
    }

    void end() throws IOException {
        isRecording = false;
        Agent.command("stop");
        Command.run("check", trace.toString());
        String info = Command.run("info", "--json", trace.toString());
        if (!info.contains("\"engine\": \"bytecode\""))
            throw new IOException("this JVM allows no exact counts: " + info);
    }

    /** What was allocated in the phase, or lives of it, as far as the limit asks for it. */
    Sites sites(Limit limit) throws IOException {
        List<String> words = new ArrayList<>(List.of("heap", trace.toString(), "--at", "end", "--by", "class+site",
                "--top", "0", "--depth", "0", "--csv", "--phase", pattern()));
        if (!limit.ofLive())
            words.add("--allocated");
        for (String once : ONCE)
            words.addAll(List.of("--site", once));
        if (!limit.site().isEmpty())
            words.addAll(List.of("--site", limit.site()));
        return Sites.of(Command.run(words.toArray(String[]::new)));
    }

    /** Keeps the trace if the user has said where. */
    String kept() throws IOException {
        String place = System.getProperty("steptrace.traces");
        if (place == null)
            return "";
        Files.createDirectories(Path.of(place));
        Path kept = Files.createTempFile(Path.of(place), test.replaceAll("[^\\w.$-]", "_") + "-", ".step");
        Files.copy(trace, kept, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
        return "\ntrace: " + kept;
    }

    @Override
    public void close() throws IOException {
        if (isRecording)
            Agent.command("stop");
        try (var files = Files.newDirectoryStream(directory)) {
            for (Path file : files)
                Files.deleteIfExists(file);
        }
        Files.deleteIfExists(directory);
    }
}
