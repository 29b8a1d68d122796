// SPDX-License-Identifier: Apache-2.0
// A busy JVM of many classes, to which the agent is attached, stopped, attached again.
//   Reattach CLASSES ROUNDS MILLISECONDS VIRTUAL [LIBRARY OPTIONS]
// It works for ROUNDS times MILLISECONDS at least; VIRTUAL virtual threads work besides.
package storm;

import com.sun.tools.attach.VirtualMachine;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

public class Reattach {
    static volatile boolean stopped;
    static volatile Object sink;

    static void work(List<Copied> classes, int seed) {
        Random random = new Random(seed);
        for (long sum = 0; !stopped;) {
            sum += classes.get(random.nextInt(classes.size())).work(random.nextInt(50));
            sink = "sum" + sum;
            if (random.nextInt(200) == 0)
                Thread.yield();
        }
    }

    static List<Copied> classes(int count) throws ReflectiveOperationException {
        List<Copied> made = new ArrayList<>();
        for (int i = 0; i < count; i++)
            made.add(new Copies().make(i % 10000));
        return made;
    }

    static Thread platform(Runnable work) {
        Thread thread = new Thread(work);
        thread.start();
        return thread;
    }

    static void attach(int rounds, int milliseconds, String[] args) throws Exception {
        long id = ProcessHandle.current().pid();
        VirtualMachine self = VirtualMachine.attach(String.valueOf(id));
        for (int i = 0; i < rounds; i++) {
            self.loadAgentPath(args[4], (i == 0 ? "" : "start,") + args[5]);
            Thread.sleep(milliseconds + i % 3 * 10);
            self.loadAgentPath(args[4], "stop");
            Thread.sleep(i % 4 * 5);
        }
        self.detach();
    }

    public static void main(String[] args) throws Throwable {
        List<Copied> classes = classes(Integer.parseInt(args[0]));
        int rounds = Integer.parseInt(args[1]), milliseconds = Integer.parseInt(args[2]);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            int seed = i;
            threads.add(platform(() -> work(classes, seed)));
        }
        for (int i = 0; i < Integer.parseInt(args[3]); i++) {
            int seed = 100 + i;
            threads.add((Thread) Virtual.starter().invoke((Runnable) () -> work(classes, seed)));
        }
        if (args.length > 4)
            attach(rounds, milliseconds, args);
        else
            Thread.sleep((long) Math.min(rounds, 5) * milliseconds);
        stopped = true;
        for (Thread thread : threads)
            thread.join();
        System.out.println("done " + classes.get(0).work(0));
    }
}
