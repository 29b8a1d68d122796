// SPDX-License-Identifier: Apache-2.0
package steptrace;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Set;

/** The copy of libtracer.so in the JAR file: its place, its checksum, its file while it is needed. */
final class NativeLibrary {
    private static final String NAME = "libtracer.so";
    /** Which class loader's copy of this class has loaded the agent; a JVM can have one agent. */
    private static final String LOADED = "steptrace.agent.loaded";

    private static boolean isLoaded;
    private static Path file;

    private NativeLibrary() {
    }

    /** Loads it unless it is there. Its file is gone afterwards: the library keeps what it needs of it. */
    static void load() throws IOException {
        if (isLoaded)
            return;
        if (System.getProperty(LOADED) != null)
            throw new IOException("another class loader has loaded the agent");
        if (isThere())
            throw new IOException("this JVM has another copy of the agent already, of -agentpath or steptrace attach");
        file = unpack();
        try {
            System.load(file.toString());
        } catch (UnsatisfiedLinkError fault) {
            throw new IOException(fault.getMessage(), fault);
        } finally {
            remove();
        }
        isLoaded = true;
        System.setProperty(LOADED, "yes");
    }

    /** Whether a copy of the agent has defined the class of its probes, which a second one cannot. */
    private static boolean isThere() {
        try {
            Class.forName("java.lang.StepTraceProbe", false, null);
            return true;
        } catch (ClassNotFoundException none) {
            return false;
        }
    }

    private static void remove() {
        if (file == null)
            return;
        try {
            Files.deleteIfExists(file);
            Files.deleteIfExists(file.getParent());
        } catch (IOException fault) {
            System.err.println("steptrace: " + reason(fault) + ": not removed");
        }
        file = null;
    }

    /** What an exception means to a reader of stderr. */
    static String reason(Throwable fault) {
        String text = fault.getMessage();
        return text != null && fault.getClass() == IOException.class ? text : fault.toString();
    }

    private static Path unpack() throws IOException {
        byte[] library = read();
        Path directory = Files.createTempDirectory("steptrace-", mode("rwx------"));
        Path path = directory.resolve(NAME);
        Set<OpenOption> fresh = Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        file = path;
        try (var out = Files.newByteChannel(path, fresh, mode("rw-------"))) {
            var bytes = java.nio.ByteBuffer.wrap(library);
            while (bytes.hasRemaining())
                out.write(bytes);
        } catch (IOException fault) {
            remove();
            throw fault;
        }
        return path;
    }

    private static FileAttribute<?> mode(String mode) {
        return PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(mode));
    }

    /** The library for this machine, if it is the one that was packed. */
    private static byte[] read() throws IOException {
        String place = "native/" + platform() + "/" + NAME;
        byte[] library = resource(place);
        String wanted = new String(resource(place + ".sha256"), StandardCharsets.US_ASCII).trim();
        if (!wanted.equals(HexFormat.of().formatHex(digest(library))))
            throw new IOException(place + " in steptrace.jar: its SHA-256 is not " + wanted);
        return library;
    }

    private static String platform() {
        String system = System.getProperty("os.name", "").toLowerCase(java.util.Locale.ROOT);
        String machine = System.getProperty("os.arch", "");
        return system + "-" + (machine.equals("x86_64") ? "amd64" : machine);
    }

    private static byte[] resource(String place) throws IOException {
        try (InputStream in = Agent.class.getResourceAsStream("/" + place)) {
            if (in == null)
                throw new IOException("steptrace.jar has no " + place);
            return in.readAllBytes();
        }
    }

    private static byte[] digest(byte[] bytes) throws IOException {
        try {
            return MessageDigest.getInstance("SHA-256").digest(bytes);
        } catch (NoSuchAlgorithmException fault) {
            throw new IOException("this JVM has no SHA-256", fault);
        }
    }
}
