// SPDX-License-Identifier: Apache-2.0
// A debugger of Swapped, at PORT: it stops at each turn(), looks at the stack, steps, and puts another
// Target into the program; watches a field and counts events of methods for a while.
package storm;

import com.sun.jdi.AbsentInformationException;
import com.sun.jdi.Bootstrap;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.StackFrame;
import com.sun.jdi.VMDisconnectedException;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.AttachingConnector;
import com.sun.jdi.connect.Connector;
import com.sun.jdi.event.BreakpointEvent;
import com.sun.jdi.event.ClassPrepareEvent;
import com.sun.jdi.event.Event;
import com.sun.jdi.event.EventSet;
import com.sun.jdi.event.StepEvent;
import com.sun.jdi.request.ClassPrepareRequest;
import com.sun.jdi.request.ExceptionRequest;
import com.sun.jdi.request.StepRequest;
import java.util.Map;

public class Debugger {
    private final VirtualMachine machine;
    private int turns, steps;

    Debugger(VirtualMachine machine) {
        this.machine = machine;
    }

    static VirtualMachine connect(String port) throws Exception {
        AttachingConnector connector = Bootstrap.virtualMachineManager().attachingConnectors().stream()
            .filter(c -> c.transport().name().equals("dt_socket")).findFirst().get();
        Map<String, Connector.Argument> arguments = connector.defaultArguments();
        arguments.get("port").setValue(port);
        for (int i = 0;; i++)
            try {
                return connector.attach(arguments);
            } catch (java.net.ConnectException early) {
                if (i == 600)
                    throw early;
                Thread.sleep(100);
            }
    }

    void prepared(ReferenceType type) {
        machine.eventRequestManager()
            .createBreakpointRequest(type.methodsByName("turn").get(0).location()).enable();
    }

    void stopped(BreakpointEvent event) throws Exception {
        for (StackFrame frame : event.thread().frames())
            try {
                frame.getValues(frame.visibleVariables());
            } catch (AbsentInformationException none) {
                steps += 0;
            }
        turns++;
        for (ReferenceType type : machine.classesByName("storm.Swapped$Target")) {
            machine.redefineClasses(Map.of(type, Swapped.file(turns)));
            type.instances(3);
        }
        StepRequest step = machine.eventRequestManager().createStepRequest(
            event.thread(), StepRequest.STEP_LINE, StepRequest.STEP_OUT);
        step.addCountFilter(1);
        step.enable();
    }

    void handle(Event event) throws Exception {
        if (event instanceof ClassPrepareEvent)
            prepared(((ClassPrepareEvent) event).referenceType());
        else if (event instanceof BreakpointEvent)
            stopped((BreakpointEvent) event);
        else if (event instanceof StepEvent) {
            steps++;
            machine.eventRequestManager().deleteEventRequest(event.request());
        }
    }

    void run() throws Exception {
        ClassPrepareRequest prepare = machine.eventRequestManager().createClassPrepareRequest();
        prepare.addClassFilter("storm.Swapped");
        prepare.enable();
        ExceptionRequest thrown = machine.eventRequestManager().createExceptionRequest(null, true, true);
        thrown.addCountFilter(3);
        thrown.enable();
        machine.resume();
        try {
            for (;;) {
                EventSet events = machine.eventQueue().remove();
                for (Event event : events)
                    handle(event);
                events.resume();
            }
        } catch (VMDisconnectedException end) {
            System.out.println("turns " + turns + " steps " + steps);
        }
    }

    public static void main(String[] args) throws Exception {
        new Debugger(connect(args[0])).run();
    }
}
