// SPDX-License-Identifier: Apache-2.0
// What native code does to a JVM (natives.c).  HOW LIBRARY: threads that attach and never detach,
// children that are forked and go on as copies, descriptors that are closed, and used by someone else.
package storm;

import java.io.File;
import java.io.FileOutputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.util.Arrays;

public class Natives {
    static volatile Object sink;
    static int called;

    static native void attachThreads(int count);
    static native int forkChild(int how);
    static native void closeAll(int first);

    /** Called by native threads. */
    static synchronized void call(int number) {
        called++;
        for (int i = 0; i < 100; i++)
            sink = new Object[] {number, new int[3]};
    }

    static void threads() {
        for (int i = 0; i < 10; i++) {
            attachThreads(8);
            System.gc();
        }
        System.out.println("called " + called);
    }

    static void forks() {
        for (int i = 0; i < 12; i++) {
            sink = Mix.work(i, 40);
            System.out.println("child " + forkChild(i % 3));
        }
    }

    static void closed() throws Exception {
        long sum = Mix.work(1, 400);
        System.out.flush();
        closeAll(3);
        File[] files = new File[20];
        OutputStream[] streams = new OutputStream[files.length];
        for (int i = 0; i < files.length; i++) {
            files[i] = new File("own-" + i);
            streams[i] = new FileOutputStream(files[i]);
        }
        for (int round = 0; round < 20; round++) {
            sum += Mix.work(round, 300);
            for (OutputStream stream : streams)
                stream.write(new byte[1000]);
        }
        for (OutputStream stream : streams)
            stream.close();
        int spoilt = 0;
        for (File file : files)
            if (!Arrays.equals(Files.readAllBytes(file.toPath()), new byte[20000]))
                spoilt++;
        System.out.println("sum " + sum + " spoilt " + spoilt);
    }

    public static void main(String[] args) throws Exception {
        System.load(args[1]);
        switch (args[0]) {
            case "threads": threads(); break;
            case "forks": forks(); break;
            case "closed": closed(); break;
            default: throw new IllegalArgumentException(args[0]);
        }
    }
}
