// SPDX-License-Identifier: Apache-2.0
package steptrace.junit;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Map;
import steptrace.packed.Descriptors;

/**
 * Where files are written that the user has named: the rules are those of the command (format/core/output_place.h,
 * converter/output), so nobody who may write in the directory leads the tests elsewhere, or lets them wait.
 */
final class Place {
    private static final int LINKS_MOST = 40;
    private static final int SHARED = 022, STICKY = 01000;

    private Place() {
    }

    /** The file to replace: a link is followed if it is this user's or root's. There need not be one, but behind a link. */
    static Path of(Path named) throws IOException {
        Path at = named;
        for (int links = 0; links <= LINKS_MOST; links++) {
            Map<String, Object> file = about(at);
            if (file == null && links == 0)
                return at;
            if (file == null)
                throw new IOException(named + ": the link leads nowhere");
            if ((Boolean) file.get("isRegularFile")) {
                if (isPlanted(at, file))
                    throw new IOException(named + ": another user's file, in a directory where all may make files");
                return at;
            }
            if (!(Boolean) file.get("isSymbolicLink"))
                throw new IOException(named + ": no regular file");
            if (!isOwn(file) && !file.get("uid").equals(0))
                throw new IOException(named + ": another user's link");
            at = at.resolveSibling(Files.readSymbolicLink(at));
        }
        throw new IOException(named + ": too many links");
    }

    /** Appends to the file, and makes it if there is none; to nothing that another user may have planted. */
    static void append(Path file, String text) throws IOException {
        FileChannel open = open(file);
        try {
            Path descriptor = Descriptors.of(file);
            if (isAppendPlanted(file, Files.readAttributes(descriptor, "unix:uid,nlink")))
                throw new IOException(file + ": cannot append: it may be another user's file, in a directory where others may make files");
            try (FileChannel end = FileChannel.open(descriptor, StandardOpenOption.WRITE, StandardOpenOption.APPEND)) {
                ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
                while (bytes.hasRemaining())
                    end.write(bytes);
            }
        } finally {
            open.close();
        }
    }

    /** To read and write: to open a FIFO so does not wait. */
    private static FileChannel open(Path file) throws IOException {
        Map<String, Object> found = about(file);
        if (found == null) {
            try {
                return FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.READ, StandardOpenOption.WRITE);
            } catch (FileAlreadyExistsException fault) {
                found = about(file);
            }
        }
        if (found == null || !(Boolean) found.get("isRegularFile"))
            throw new IOException(file + ": cannot append: no regular file");
        return FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
    }

    /** Null if there is nothing. */
    private static Map<String, Object> about(Path file) throws IOException {
        try {
            return Files.readAttributes(file, "unix:uid,nlink,mode,isRegularFile,isSymbolicLink", LinkOption.NOFOLLOW_LINKS);
        } catch (NoSuchFileException fault) {
            return null;
        }
    }

    private static Map<String, Object> directory(Path file) throws IOException {
        Path parent = file.getParent();
        return Files.readAttributes(parent == null ? Path.of(".") : parent, "unix:uid,mode");
    }

    private static boolean isOwn(Map<String, Object> file) throws IOException {
        return file.get("uid").equals(Descriptors.user());
    }

    private static boolean isPlanted(Path at, Map<String, Object> file) throws IOException {
        Map<String, Object> shared = directory(at);
        int mode = (Integer) shared.get("mode");
        return !isOwn(file) && (mode & STICKY) != 0 && (mode & SHARED) != 0 && !file.get("uid").equals(shared.get("uid"));
    }

    private static boolean isAppendPlanted(Path at, Map<String, Object> file) throws IOException {
        Map<String, Object> shared = directory(at);
        boolean isAlone = isOwn(file) && file.get("nlink").equals(1);
        return ((Integer) shared.get("mode") & SHARED) != 0 && !isAlone && !file.get("uid").equals(shared.get("uid"));
    }
}
