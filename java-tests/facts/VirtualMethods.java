// SPDX-License-Identifier: Apache-2.0
// TEST: jdk=21 collectors=G1 events=all options=include=facts/VirtualMethods*
// FACT: calls facts/VirtualMethods run 100
// FACT: calls facts/VirtualMethods middle 1000
// FACT: calls facts/VirtualMethods inner 1000
// FACT: exits facts/VirtualMethods inner 900
// FACT: pops facts/VirtualMethods inner 100
// FACT: exits facts/VirtualMethods run 100
// FACT: calls facts/VirtualMethods$Task <init> 1000
// FACT: thread-sequences 100 facts/VirtualMethods +run 9*( +middle +inner -inner +Task.<init> -Task.<init> -middle ) +middle +inner !inner +Task.<init> -Task.<init> -middle -run
package facts;

import java.lang.reflect.Method;

/** Frames of virtual threads stay in their threads, whatever carries them. */
public class VirtualMethods {
    static class Task {}

    static volatile Object sink;

    static void run() {
        for (int i = 0; i < 10; i++)
            middle(i);
    }

    static void middle(int i) {
        try {
            inner(i);
        } catch (IllegalStateException e) {
            Thread.yield();
        }
        sink = new Task();
    }

    static void inner(int i) {
        Thread.yield();
        if (i == 9)
            throw new IllegalStateException();
        if (i % 3 == 0)
            Support.pause(1);
    }

    public static void main(String[] args) throws Exception {
        Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
        Runnable run = VirtualMethods::run;
        Thread[] threads = new Thread[100];
        for (int i = 0; i < threads.length; i++)
            threads[i] = (Thread) start.invoke(null, run);
        for (Thread thread : threads)
            thread.join();
        System.out.println("done");
    }
}
