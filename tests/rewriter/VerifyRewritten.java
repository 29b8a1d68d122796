// SPDX-License-Identifier: Apache-2.0

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.BufferedOutputStream;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Rewrites every class of the given JDKs, jars and directories with all probes, through the program
 * rewrite_stream, and has the JDK's class file verifier look at the results.  Needs JDK 24 or later.
 *
 * <pre>java VerifyRewritten.java REWRITE_STREAM MODE EVERY PATH...</pre>
 *
 * EVERY is 1 for all classes, N for each N-th one.  Exits with 1 if a class that verified before does
 * not afterwards, or if the rewriter took a class that verified for malformed.
 */
public class VerifyRewritten {
    private static final int CHANGED = 0, UNCHANGED = 1;

    private static final class Counts {
        int classes, changed, unchanged, refused, refusedGood, badBefore, badAfter, leftAlone;
        long bytes, nanoseconds;

        void add(Counts other) {
            classes += other.classes;
            changed += other.changed;
            unchanged += other.unchanged;
            refused += other.refused;
            refusedGood += other.refusedGood;
            badBefore += other.badBefore;
            badAfter += other.badAfter;
            leftAlone += other.leftAlone;
            bytes += other.bytes;
            nanoseconds += other.nanoseconds;
        }

        @Override
        public String toString() {
            return String.format("%d classes, %.1f MB: %d changed, %d unchanged, %d refused (%d of them"
                    + " verify), %d do not verify unchanged, %d methods left alone, %d BROKEN, %.3f s in"
                    + " the rewriter", classes, bytes / 1e6, changed, unchanged, refused, refusedGood,
                    badBefore, leftAlone, badAfter, nanoseconds / 1e9);
        }
    }

    private final DataOutputStream to;
    private final DataInputStream from;
    private final int every;
    private final Counts all = new Counts();

    private VerifyRewritten(String program, String mode, int every) throws IOException {
        Process process = new ProcessBuilder(program, mode)
                .redirectError(ProcessBuilder.Redirect.INHERIT).start();
        to = new DataOutputStream(new BufferedOutputStream(process.getOutputStream(), 1 << 16));
        from = new DataInputStream(new BufferedInputStream(process.getInputStream(), 1 << 16));
        this.every = every;
    }

    /** Errors as text; a class file that the verifier can't even read has one, too. */
    private static List<String> errors(ClassFile verifier, byte[] bytes) {
        try {
            List<String> result = new ArrayList<>();
            for (VerifyError error : verifier.verify(bytes)) {
                result.add(String.valueOf(error.getMessage()));
            }
            return result;
        } catch (RuntimeException | Error e) {
            return List.of(e.toString());
        }
    }

    private void check(ClassFile verifier, String name, byte[] bytes, Counts counts) throws IOException {
        to.writeInt(bytes.length);
        to.write(bytes);
        to.flush();
        int result = from.readInt();
        counts.nanoseconds += from.readLong();
        counts.leftAlone += from.readInt();
        byte[] answer = new byte[from.readInt()];
        from.readFully(answer);
        counts.classes++;
        counts.bytes += bytes.length;
        if (result == UNCHANGED) {
            counts.unchanged++;
            return;
        }
        boolean good = errors(verifier, bytes).isEmpty();
        if (!good) {
            counts.badBefore++;
        }
        if (result == CHANGED) {
            counts.changed++;
            checkChanged(verifier, name, answer, good, counts);
            return;
        }
        counts.refused++;
        if (good) {
            counts.refusedGood++;
        }
        System.out.println(name + ": " + (good ? "verifies, but is " : "") + "refused: "
                + new String(answer));
    }

    private static void checkChanged(ClassFile verifier, String name, byte[] bytes, boolean good,
            Counts counts) {
        if (!good) {
            return;
        }
        List<String> errors = errors(verifier, bytes);
        if (!errors.isEmpty()) {
            counts.badAfter++;
            System.out.println(name + ": BROKEN: " + errors.get(0));
        }
    }

    /** Checks the classes below these roots, which may name each other. */
    private void checkAll(String title, List<Path> roots) throws IOException {
        Map<String, Path> files = new HashMap<>();
        for (Path root : roots) {
            try (Stream<Path> found = Files.walk(root)) {
                found.filter(p -> p.toString().endsWith(".class")).forEach(
                        p -> files.putIfAbsent(root.relativize(p).toString().replace('\\', '/'), p));
            }
        }
        ClassFile verifier = ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(resolver(files)));
        Counts counts = new Counts();
        int seen = 0;
        for (Map.Entry<String, Path> file : new java.util.TreeMap<>(files).entrySet()) {
            if (seen++ % every == 0) {
                check(verifier, title + ": " + file.getKey(), Files.readAllBytes(file.getValue()), counts);
            }
        }
        System.out.println(title + ": " + counts);
        all.add(counts);
    }

    private static ClassHierarchyResolver resolver(Map<String, Path> files) {
        ClassHierarchyResolver own = ClassHierarchyResolver.ofResourceParsing(type -> {
            String name = type.descriptorString();
            Path path = files.get(name.substring(1, name.length() - 1) + ".class");
            try {
                return path == null ? null : (InputStream) Files.newInputStream(path);
            } catch (IOException e) {
                return null;
            }
        });
        return own.orElse(ClassHierarchyResolver.defaultResolver()).cached();
    }

    private void checkPath(Path path) throws IOException {
        if (Files.exists(path.resolve("lib/jrt-fs.jar"))) {
            checkJdk(path);
        } else if (Files.isDirectory(path)) {
            checkAll(path.toString(), List.of(path));
        } else {
            try (FileSystem jar = FileSystems.newFileSystem(path)) {
                checkAll(path.toString(), List.of(jar.getPath("/")));
            }
        }
    }

    private void checkJdk(Path home) throws IOException {
        URI uri = URI.create("jrt:/");
        try (FileSystem image = FileSystems.newFileSystem(uri, Map.of("java.home", home.toString()))) {
            List<Path> roots = new ArrayList<>();
            try (Stream<Path> modules = Files.list(image.getPath("/modules"))) {
                modules.forEach(roots::add);
            }
            checkAll(home.toString(), roots);
        }
    }

    public static void main(String[] args) throws IOException {
        VerifyRewritten verify = new VerifyRewritten(args[0], args[1], Integer.parseInt(args[2]));
        for (int i = 3; i < args.length; i++) {
            verify.checkPath(Path.of(args[i]));
        }
        verify.to.close();
        System.out.println("all: " + verify.all);
        if (verify.all.classes == 0 || verify.all.badAfter > 0 || verify.all.refusedGood > 0) {
            System.exit(1);
        }
    }
}
