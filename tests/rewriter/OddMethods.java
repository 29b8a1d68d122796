// SPDX-License-Identifier: Apache-2.0

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.Instruction;
import java.lang.classfile.Label;
import java.lang.classfile.MethodModel;
import java.lang.classfile.Opcode;
import java.lang.classfile.TypeKind;
import java.lang.classfile.instruction.DiscontinuedInstruction;
import java.lang.classfile.instruction.SwitchCase;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.reflect.InvocationTargetException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * Class files that compilers seldom write, rewritten with all probes: each must verify, must give the
 * same results as before, and the probes that run must nest.  Runs with the probes of probe/ patched
 * into java.base.
 *
 * <pre>java --patch-module java.base=PROBE OddMethods.java REWRITE_STREAM</pre>
 */
public class OddMethods {
    private static final ClassDesc ODD = ClassDesc.of("Odd");
    private static final ClassDesc OBJECT = ConstantDescs.CD_Object;
    private static final MethodTypeDesc RUN = MethodTypeDesc.of(OBJECT, ConstantDescs.CD_int);
    private static final MethodTypeDesc INT_VOID =
            MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_int);
    private static final ClassDesc INTEGER = ClassDesc.of("java.lang.Integer");
    private static final MethodTypeDesc VALUE_OF = MethodTypeDesc.of(INTEGER, ConstantDescs.CD_int);
    private static final int PUBLIC = ClassFile.ACC_PUBLIC, STATIC = ClassFile.ACC_STATIC;
    private static final int[] ARGUMENTS = {-1, 0, 1, 2, 3, 5, 17, 100, 500, 899, 900, 100000};

    private static DataOutputStream to;
    private static DataInputStream from;
    private static int leftAlone, failures;

    private static byte[] rewrite(byte[] bytes) throws IOException {
        to.writeInt(bytes.length);
        to.write(bytes);
        to.flush();
        int result = from.readInt();
        from.readLong();
        leftAlone = from.readInt();
        byte[] answer = new byte[from.readInt()];
        from.readFully(answer);
        if (result != 0) {
            throw new IOException("not rewritten: " + result + " " + new String(answer));
        }
        return answer;
    }

    private static final class Loader extends ClassLoader {
        Class<?> define(byte[] bytes) {
            return defineClass("Odd", bytes, 0, bytes.length);
        }
    }

    /** What run(argument) gives, as text. */
    private static String outcome(Class<?> type, int argument) throws ReflectiveOperationException {
        try {
            Object result = type.getMethod("run", int.class).invoke(null, argument);
            return result instanceof Object[] array ? Arrays.deepToString(array)
                    : Objects.toString(result);
        } catch (InvocationTargetException e) {
            return e.getCause().getClass().getName();
        }
    }

    /** Plays what the agent does with the probes: returns the fault found, or null. */
    private static String nesting() {
        Deque<Integer> frames = new ArrayDeque<>();
        Deque<Boolean> pending = new ArrayDeque<>();
        for (int i = 0; i < StepTraceProbe.count; i++) {
            int number = StepTraceProbe.numbers[i];
            String name = StepTraceProbe.names[i];
            if (name.startsWith("entry")) {
                frames.push(number);
                pending.push(name.equals("entryNew"));
            } else if (!name.startsWith("alloc") && !name.startsWith("call")) {
                while (!frames.isEmpty() && frames.peek() != number && pending.peek()) {
                    frames.pop();
                    pending.pop();
                }
                if (frames.isEmpty() || frames.peek() != number) {
                    return name + "(" + number + ") is not of the innermost frame " + frames.peek();
                }
                if (name.equals("constructed")) {
                    pending.pop();
                    pending.push(false);
                } else if (!name.equals("caught")) {
                    frames.pop();
                    pending.pop();
                }
            }
        }
        return frames.isEmpty() || !pending.contains(false) ? null : "frames are left open: " + frames;
    }

    private static void fail(String name, String message) {
        System.out.println(name + ": " + message);
        failures++;
    }

    private static void compare(String name, byte[] before, byte[] after)
            throws ReflectiveOperationException {
        Class<?> plain = new Loader().define(before), probed = new Loader().define(after);
        for (int argument : ARGUMENTS) {
            String wanted = outcome(plain, argument);
            StepTraceProbe.count = 0;
            StepTraceProbe.on = true;
            String got = outcome(probed, argument);
            StepTraceProbe.on = false;
            if (!wanted.equals(got)) {
                fail(name, "run(" + argument + ") gives " + got + ", not " + wanted);
            }
            if (StepTraceProbe.count == 0 && leftAlone == 0) {
                fail(name, "run(" + argument + ") calls no probe");
            }
            String fault = nesting();
            if (fault != null) {
                fail(name, "run(" + argument + "): " + fault);
            }
        }
    }

    private static byte[] build(int version, Consumer<ClassBuilder> content) {
        ClassFile.StackMapsOption frames = version < 50 ? ClassFile.StackMapsOption.DROP_STACK_MAPS
                : ClassFile.StackMapsOption.STACK_MAPS_WHEN_REQUIRED;
        return ClassFile.of(frames).build(ODD, builder -> {
            builder.withVersion(version, 0).withFlags(PUBLIC | ClassFile.ACC_SUPER);
            content.accept(builder);
        });
    }

    /** One class: `left` methods must be left alone, `wanted` must occur in what comes out. */
    private static void test(String name, int left, Opcode wanted, byte[] bytes) throws Exception {
        boolean old = ClassFile.of().parse(bytes).majorVersion() < 50; /* only the JVM verifies those */
        List<VerifyError> before = old ? List.of() : ClassFile.of().verify(bytes);
        if (!before.isEmpty()) {
            fail(name, "does not verify unchanged: " + before.get(0).getMessage());
            return;
        }
        byte[] after = rewrite(bytes);
        if (leftAlone != left) {
            fail(name, leftAlone + " methods are left alone, not " + left);
        }
        List<VerifyError> errors = old ? List.of() : ClassFile.of().verify(after);
        if (!errors.isEmpty()) {
            fail(name, "does not verify: " + errors.get(0).getMessage());
            return;
        }
        if (wanted != null && !contains(after, wanted)) {
            fail(name, "has no " + wanted);
        }
        compare(name, bytes, after);
        System.out.println(name + ": " + bytes.length + " bytes, now " + after.length);
    }

    private static boolean contains(byte[] bytes, Opcode opcode) {
        ClassModel model = ClassFile.of().parse(bytes);
        for (MethodModel method : model.methods()) {
            for (CodeElement element : method.code().map(c -> c.elementList()).orElse(List.of())) {
                if (element instanceof Instruction i && i.opcode() == opcode) {
                    return true;
                }
            }
        }
        return false;
    }

    private static void returnInt(CodeBuilder code, int local) {
        code.iload(local).invokestatic(INTEGER, "valueOf", VALUE_OF).areturn();
    }

    private static void newArray(CodeBuilder code, int count) {
        for (int i = 0; i < count; i++) {
            code.iconst_1().newarray(TypeKind.INT).pop();
        }
    }

    /** Blocks with a conditional jump to the end, one to the start of the next and one back. */
    private static void farBlocks(CodeBuilder code, int argument, int sum, int blocks, Label end) {
        Label first = code.newLabel();
        code.iconst_0().istore(sum).labelBinding(first);
        for (int i = 0; i < blocks; i++) {
            Label next = code.newLabel();
            code.iload(sum).sipush(3 * i + 1).if_icmplt(next);
            code.iload(argument).sipush(i).if_icmpeq(end);
            code.iinc(sum, 2).iload(sum).sipush(i).if_icmplt(first);
            code.labelBinding(next).iinc(sum, 3);
            newArray(code, 2);
        }
    }

    private static byte[] far(int version, int blocks) {
        return build(version, c -> c.withMethodBody("run", RUN, PUBLIC | STATIC, code -> {
            Label end = code.newLabel();
            code.lconst_1().lstore(2).dconst_1().dstore(4).aconst_null().astore(6);
            farBlocks(code, 0, 1, blocks, end);
            code.labelBinding(end);
            returnInt(code, 1);
        }));
    }

    /** The far jumps lie in the range of a handler, but for a gap in the middle of the code. */
    private static byte[] farInTry(int blocks, boolean gap) {
        return build(65, c -> c.withMethodBody("other", ConstantDescs.MTD_void, PUBLIC | STATIC,
                code -> code.return_()).withMethodBody("run", RUN, PUBLIC | STATIC, code -> {
            Label end = code.newLabel();
            code.iconst_0().istore(1);
            for (int part = 0; part < (gap ? 2 : 1); part++) {
                code.trying(body -> farBlocks(body, 0, 1, gap ? blocks / 2 : blocks, end),
                        handlers -> handlers.catchingAll(h -> h.pop().aconst_null().areturn()));
            }
            code.labelBinding(end);
            returnInt(code, 1);
        }));
    }

    /** Far jumps with an uninitialised object on the stack. */
    private static byte[] farUninitialized(int blocks) {
        return build(65, c -> c.withMethodBody("run", RUN, PUBLIC | STATIC, code -> {
            Label end = code.newLabel();
            code.new_(INTEGER).dup();
            farBlocks(code, 0, 1, blocks, end);
            code.labelBinding(end).iload(1);
            code.invokespecial(INTEGER, "<init>", INT_VOID).areturn();
        }));
    }

    /** Far jumps in a constructor, before and after super(). */
    private static byte[] farConstructor(int blocks) {
        return build(69, c -> {
            c.withField("sum", ConstantDescs.CD_int, PUBLIC);
            c.withMethodBody("<init>", INT_VOID, PUBLIC, code -> {
                Label before = code.newLabel(), after = code.newLabel();
                farBlocks(code, 1, 2, blocks, before);
                code.labelBinding(before);
                code.aload(0).invokespecial(OBJECT, "<init>", ConstantDescs.MTD_void);
                newArray(code, 100);
                code.iload(1).bipush(17).if_icmpeq(after);
                newArray(code, 100);
                code.labelBinding(after).aload(0).iload(2);
                code.putfield(ODD, "sum", ConstantDescs.CD_int).return_();
            });
            c.withMethodBody("run", RUN, PUBLIC | STATIC, code -> {
                code.new_(ODD).dup().iload(0).invokespecial(ODD, "<init>", INT_VOID);
                code.getfield(ODD, "sum", ConstantDescs.CD_int);
                code.invokestatic(INTEGER, "valueOf", VALUE_OF).areturn();
            });
        });
    }

    /** Subroutines of old class files, near and far. */
    private static byte[] subroutines(int version, int arrays) {
        return build(version, c -> c.withMethodBody("run", RUN, PUBLIC | STATIC, code -> {
            Label subroutine = code.newLabel();
            code.iconst_1().istore(1);
            code.with(DiscontinuedInstruction.JsrInstruction.of(subroutine));
            newArray(code, arrays);
            code.with(DiscontinuedInstruction.JsrInstruction.of(subroutine));
            returnInt(code, 1);
            code.labelBinding(subroutine).astore(2);
            code.iload(1).iload(0).iadd().istore(1);
            code.with(DiscontinuedInstruction.RetInstruction.of(2));
        }));
    }

    /** Switches at all four alignments, in a loop. */
    private static byte[] switches(int nops) {
        return build(65, c -> c.withMethodBody("run", RUN, PUBLIC | STATIC, code -> {
            Label again = code.newLabel(), other = code.newLabel(), done = code.newLabel();
            List<SwitchCase> near = new ArrayList<>(), sparse = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                near.add(SwitchCase.of(i, code.newLabel()));
                sparse.add(SwitchCase.of(i * 1000 - 1, code.newLabel()));
            }
            code.iconst_0().istore(1).labelBinding(again).iinc(1, 1);
            code.iload(1).bipush(50).if_icmpgt(done);
            for (int i = 0; i < nops; i++) {
                code.nop();
            }
            newArray(code, 1);
            code.iload(0).iload(1).iadd().tableswitch(0, 4, other, near);
            for (SwitchCase one : near) {
                code.labelBinding(one.target()).iinc(1, 3).goto_(again);
            }
            code.labelBinding(other).iload(0).lookupswitch(done, sparse);
            for (SwitchCase one : sparse) {
                code.labelBinding(one.target()).iinc(1, 7).goto_(again);
            }
            code.labelBinding(done);
            returnInt(code, 1);
        }));
    }

    /** A constructor that has put something else into its variable 0 before super(). */
    private static byte[] lostThis() {
        return build(65, c -> {
            c.withMethodBody("<init>", INT_VOID, PUBLIC, code -> {
                code.aload(0).aconst_null().astore(0);
                code.invokespecial(OBJECT, "<init>", ConstantDescs.MTD_void).return_();
            });
            c.withMethodBody("run", RUN, PUBLIC | STATIC, code -> {
                code.new_(ODD).dup().iload(0).invokespecial(ODD, "<init>", INT_VOID);
                code.pop().aconst_null().areturn();
            });
        });
    }

    /** Before super() a try block, a branch with `this` on the stack, and an exception that leaves. */
    private static byte[] busyConstructor() {
        return build(69, c -> {
            c.withMethodBody("<init>", INT_VOID, PUBLIC, code -> {
                code.trying(body -> body.bipush(100).iload(1).idiv().istore(2),
                        handlers -> handlers.catchingAll(h -> h.pop().iconst_0().istore(2)));
                Label five = code.newLabel(), join = code.newLabel();
                code.aload(0).iload(1).iconst_5().if_icmpeq(five);
                code.iload(1).newarray(TypeKind.INT).goto_(join);
                code.labelBinding(five).iconst_1().newarray(TypeKind.INT).labelBinding(join);
                code.pop().invokespecial(OBJECT, "<init>", ConstantDescs.MTD_void);
                Label other = code.newLabel();
                code.iload(1).bipush(17).if_icmpne(other).return_();
                code.labelBinding(other).return_();
            });
            c.withMethodBody("run", RUN, PUBLIC | STATIC, code -> {
                code.trying(body -> {
                    body.new_(ODD).dup().iload(0).invokespecial(ODD, "<init>", INT_VOID).pop();
                    body.iload(0).istore(1);
                }, handlers -> handlers.catchingAll(h -> h.pop().bipush(-7).istore(1)));
                returnInt(code, 1);
            });
        });
    }

    /** Variables above 255, sub-arrays, clones, an exception in a synchronized method. */
    private static byte[] mixture() {
        ClassDesc ints = ConstantDescs.CD_int.arrayType();
        return build(65, c -> {
            c.withMethodBody("run", RUN, PUBLIC | STATIC | ClassFile.ACC_SYNCHRONIZED, code -> {
                code.iload(0).istore(300).iinc(300, 1000).lconst_1().lstore(301);
                code.iconst_2().iconst_3().iconst_1().multianewarray(ints.arrayType().arrayType(), 3);
                Label small = code.newLabel();
                code.iload(300).sipush(1002).if_icmplt(small).nop().labelBinding(small);
                code.dup().iload(0).aaload().iconst_0().aaload();
                code.invokevirtual(ints, "clone", MethodTypeDesc.of(OBJECT)).pop().areturn();
            });
        });
    }

    /** As large as code can be: only what is not larger afterwards gets its probes. */
    private static byte[] largest(int arrays) {
        return build(49, c -> {
            c.withMethodBody("large", RUN, PUBLIC | STATIC, code -> {
                newArray(code, arrays);
                code.aconst_null().areturn();
            });
            c.withMethodBody("run", RUN, PUBLIC | STATIC,
                    code -> code.iload(0).invokestatic(ODD, "large", RUN).areturn());
        });
    }

    public static void main(String[] args) throws Exception {
        Process process = new ProcessBuilder(args[0], "all").start();
        to = new DataOutputStream(process.getOutputStream());
        from = new DataInputStream(process.getInputStream());
        for (int version : new int[] {49, 50, 52, 65, 69}) {
            test("far jumps, version " + version, 0, Opcode.GOTO_W, far(version, 850));
        }
        test("far jumps with a gap between handlers", 0, Opcode.GOTO_W, farInTry(850, true));
        test("far jumps in a handler's range", 2, null, farInTry(850, false));
        test("far jumps, object on the stack", 0, Opcode.GOTO_W, farUninitialized(850));
        test("far jumps in a constructor", 0, Opcode.GOTO_W, farConstructor(850));
        test("subroutines", 0, null, subroutines(49, 3));
        test("far subroutines", 0, Opcode.JSR_W, subroutines(48, 8000));
        for (int nops = 0; nops < 4; nops++) {
            test("switches, " + nops + " bytes on", 0, null, switches(nops));
        }
        test("no this in a constructor", 0, null, lostThis());
        test("a busy constructor", 0, null, busyConstructor());
        test("mixture", 0, null, mixture());
        test("the largest code", 2, null, largest(16000));
        to.close();
        if (failures > 0) {
            System.exit(1);
        }
    }
}
