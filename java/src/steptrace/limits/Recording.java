// SPDX-License-Identifier: Apache-2.0
package steptrace.limits;

import java.io.IOException;
import java.lang.ref.WeakReference;
import java.nio.charset.CharsetEncoder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import steptrace.Agent;

/**
 * The trace of one measurement, in which the calls of a method are a phase. For {@link steptrace.Allocations} and for
 * extensions of test frameworks.
 */
public final class Recording implements AutoCloseable {
    private static final String DEPTH = "256";
    private static final int COLLECTIONS = 50;
    /**
     * What the JVM calls once for a class or a call site, and JaCoCo once for a class: no part of what is measured.
     */
    private static final List<String> ONCE = List.of("!java.lang.ClassLoader.loadClass",
            "!java.lang.invoke.MethodHandleNatives.*", "!**.$jacocoInit");
    /** A JVM records one trace at a time: measurements come one after the other. */
    private static final ReentrantLock ONE_AT_A_TIME = new ReentrantLock();
    private static final String UNMATCHED = "no method matches ";
    /** Once in a JVM. */
    private static final Set<String> REPORTED = ConcurrentHashMap.newKeySet();

    private final String name;
    private final String pattern;
    private final Map<String, Sites> answers = new HashMap<>();
    private Path directory;
    private Path trace;
    private boolean isRecording;
    private boolean isInterrupted;

    /**
     * Begins it. Nothing else of the JVM has to go on meanwhile: gentle=no. The classes keep their probes for the next one.
     * A trace of another engine than the named one is incomplete, which {@link #sites} refuses.
     *
     * @param name for the name of a kept trace
     * @param phases the value of the agent's option phase
     * @param pattern of the phase, as with {@code steptrace --phase}
     */
    public Recording(String name, String phases, String pattern) throws IOException {
        this.name = name;
        this.pattern = pattern;
        if (ONE_AT_A_TIME.isHeldByCurrentThread())
            throw new IOException("a measurement within a measurement: a JVM records one trace at a time");
        ONE_AT_A_TIME.lock();
        try {
            Command.prepare();
            directory = newDirectory();
            trace = directory.resolve("test.step");
            /* A call that began before the trace is in no phase of a method of its thread; of the program, it may be. */
            String missed = phases.contains("program:" + pattern) ? "" : "missed=no,";
            Agent.command(missed + "file=" + trace + ",existing=no,gentle=no,probes=keep,engine=bytecode,events=alloc+free,stack="
                    + DEPTH + ",phase=" + phases);
            isRecording = true;
        } finally {
            if (!isRecording)
                close();
        }
    }

    private static Path newDirectory() throws IOException {
        try {
            return Files.createTempDirectory("steptrace-test-");
        } catch (IOException fault) {
            throw new IOException("the trace needs a directory in java.io.tmpdir: " + fault, fault);
        }
    }

    /** Collects the heap until a new object is found dead, twice: what it kept dies with the second. */
    public static void collect() throws IOException {
        for (int round = 0; round < 2; round++) {
            WeakReference<Object> canary = new WeakReference<>(new Object());
            for (int i = 0; !canary.refersTo(null); i++) {
                if (i == COLLECTIONS)
                    throw new IOException("System.gc() does not collect: limits of what lives need it");
                System.gc();
            }
        }
    }

    /** Ends the trace. What has interrupted the thread until now is the business of what is measured. */
    public void end() throws IOException {
        isInterrupted |= Thread.interrupted();
        isRecording = false;
        Agent.command("stop");
    }

    /**
     * What was allocated in the phase, or lives of it. The same is asked once.
     *
     * @param patterns as with {@code steptrace --site}, of which one has to match; an empty one matches all
     */
    public Sites sites(boolean ofLive, String... patterns) throws IOException {
        String question = ofLive + String.join("\n", patterns);
        if (!answers.containsKey(question))
            answers.put(question, ask(ofLive, patterns));
        return answers.get(question);
    }

    private Sites ask(boolean ofLive, String... patterns) throws IOException {
        List<String> words = new ArrayList<>(List.of("heap", trace.toString(), "--at", "end", "--by", "class+site",
                "--top", "0", "--depth", "0", "--csv", "--phase", pattern));
        if (!ofLive)
            words.add("--allocated");
        for (String once : ONCE)
            words.addAll(List.of("--site", once));
        for (String one : patterns)
            if (!one.isEmpty())
                words.addAll(List.of("--site", encodable(one)));
        return Sites.of(Command.run(said -> reportUnmatched(said, patterns), words.toArray(String[]::new)));
    }

    /** A wrong name counts nothing, and so does a right one where nothing is allocated: the user knows which it is. */
    private void reportUnmatched(String said, String... patterns) {
        for (String pattern : patterns)
            said.lines().filter(line -> line.contains(UNMATCHED + "'" + encodable(pattern) + "'"))
                    .map(line -> line.substring(line.indexOf(UNMATCHED))).filter(REPORTED::add)
                    .forEach(line -> System.err.println("steptrace: " + name + ": of what was allocated, " + line));
    }

    /** The command gets words in the platform's charset, where a letter may be missing: a star for it, which matches more. */
    private static String encodable(String pattern) {
        CharsetEncoder encoder = Agent.nameCharset().newEncoder();
        return pattern.codePoints().mapToObj(Character::toString).map(letter -> encoder.canEncode(letter) ? letter : "*")
                .collect(Collectors.joining());
    }

    /** Keeps the trace if the user has said where; then a line says its name. */
    public String kept() throws IOException {
        String place = System.getProperty("steptrace.traces");
        if (place == null)
            return "";
        Files.createDirectories(Path.of(place));
        Path kept = Files.createTempFile(Path.of(place), name.replaceAll("[^\\w.$-]", "_") + "-", ".step");
        Files.copy(trace, kept, StandardCopyOption.REPLACE_EXISTING);
        return "\ntrace: " + kept;
    }

    @Override
    public void close() throws IOException {
        try {
            if (isRecording)
                end();
            if (directory == null)
                return;
            try (var files = Files.newDirectoryStream(directory)) {
                for (Path file : files)
                    Files.deleteIfExists(file);
            }
            Files.deleteIfExists(directory);
        } finally {
            ONE_AT_A_TIME.unlock();
            if (isInterrupted)
                Thread.currentThread().interrupt();
        }
    }
}
