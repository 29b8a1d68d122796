// SPDX-License-Identifier: Apache-2.0
// Many objects that a trace found when it began die while it ends, amid collections.
//   Deaths ROUNDS OBJECTS [LIBRARY OPTIONS]
package storm;

import com.sun.tools.attach.VirtualMachine;

public class Deaths {
    static volatile boolean stopped;
    static volatile Object[] held;

    static void collect() {
        while (!stopped)
            System.gc();
    }

    static void round(VirtualMachine self, int round, int objects, String[] args) throws Exception {
        held = new Object[objects];
        for (int i = 0; i < objects; i++)
            held[i] = new Object();
        self.loadAgentPath(args[2], (round == 0 ? "" : "start,") + args[3]);
        held = null;
        Thread.sleep(round % 5 * 3);
        self.loadAgentPath(args[2], "stop");
    }

    public static void main(String[] args) throws Exception {
        Thread collector = new Thread(Deaths::collect);
        collector.start();
        if (args.length > 2) {
            VirtualMachine self = VirtualMachine.attach(String.valueOf(ProcessHandle.current().pid()));
            for (int i = 0; i < Integer.parseInt(args[0]); i++)
                round(self, i, Integer.parseInt(args[1]), args);
            self.detach();
        }
        stopped = true;
        collector.join();
        System.out.println("done");
    }
}
