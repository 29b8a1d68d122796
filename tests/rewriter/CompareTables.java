// SPDX-License-Identifier: Apache-2.0

import java.lang.classfile.Attribute;
import java.lang.classfile.Attributes;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeElement;
import java.lang.classfile.Instruction;
import java.lang.classfile.MethodModel;
import java.lang.classfile.Opcode;
import java.lang.classfile.attribute.CodeAttribute;
import java.lang.classfile.attribute.LineNumberInfo;
import java.lang.classfile.attribute.LocalVariableInfo;
import java.lang.classfile.attribute.LocalVariableTypeInfo;
import java.lang.classfile.instruction.ExceptionCatch;
import java.lang.classfile.instruction.InvokeInstruction;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * Takes the probes out of a rewritten class again and compares: the instructions must be the old ones,
 * and each must have the line, the variables and the exception handlers that it had.
 */
final class CompareTables {
    private static final String PROBE = "java/lang/StepTraceProbe";

    private record Place(int offset, Instruction instruction) {
    }

    private CompareTables() {
    }

    /** The first difference, or null. */
    static String compare(byte[] before, byte[] after) {
        List<MethodModel> old = ClassFile.of().parse(before).methods();
        List<MethodModel> now = ClassFile.of().parse(after).methods();
        for (int i = 0; i < old.size(); i++) {
            CodeAttribute a = old.get(i).findAttribute(Attributes.code()).orElse(null);
            CodeAttribute b = now.get(i).findAttribute(Attributes.code()).orElse(null);
            String difference = a == null ? null : compare(a, b);
            if (difference != null) {
                return old.get(i).methodName().stringValue() + ": " + difference;
            }
        }
        return null;
    }

    private static List<Place> instructions(CodeAttribute code) {
        List<Place> result = new ArrayList<>();
        int offset = 0;
        for (CodeElement element : code.elementList()) {
            if (element instanceof Instruction instruction) {
                result.add(new Place(offset, instruction));
                offset += instruction.sizeInBytes();
            }
        }
        return result;
    }

    /** Without the probes and what pushes their operands. */
    private static List<Place> withoutProbes(CodeAttribute code) {
        List<Place> result = new ArrayList<>();
        boolean unwinding = false;
        int guard = 0; /* what is left of one: aconst_null, pop, aload */
        for (Place place : instructions(code)) {
            if (guard > 0) {
                guard--;
                continue;
            }
            if (unwinding && place.instruction.opcode() == Opcode.NOP) {
                continue;
            }
            if (unwinding && place.instruction.opcode() == Opcode.ATHROW) {
                unwinding = false;
                continue;
            }
            unwinding = false;
            if (!(place.instruction instanceof InvokeInstruction call)
                    || !call.owner().asInternalName().equals(PROBE)) {
                result.add(place);
                continue;
            }
            if (call.name().stringValue().startsWith("store") && !call.name().equalsString("storeClone")
                    || call.name().equalsString("copied")) {
                removeStore(result, call);
                continue;
            }
            boolean aroundCall = call.name().equalsString("allocArrays")
                    && result.getLast().instruction.opcode() == Opcode.ARRAYLENGTH;
            boolean cloned = call.name().stringValue().endsWith("Cloned")
                    || call.name().equalsString("storeClone");
            int operands = aroundCall ? 3 : cloned ? 1 : call.typeSymbol().parameterCount();
            result.subList(result.size() - operands, result.size()).clear();
            if (aroundCall || cloned) {
                result.remove(result.size() - 2); /* dup_x1 or dup before the call */
            }
            unwinding = call.name().stringValue().matches("unwind|callUnwind|phaseUnwind");
            if (unwinding || call.name().stringValue().matches("caught|phaseCaught")) {
                result.removeLast(); /* astore */
                guard = 3;
            }
        }
        return result;
    }

    /** What stands around a store for its probe, which comes next. */
    private static void removeStore(List<Place> result, InvokeInstruction probe) {
        String name = probe.name().stringValue();
        boolean field = name.equals("storeField") || name.equals("storeStatic");
        int operands = field || name.equals("storeElement") ? 1 : probe.typeSymbol().parameterCount();
        result.subList(result.size() - operands, result.size()).clear();
        int end = result.size() - 1, before = 0; /* the store */
        if (result.getLast().instruction.opcode() == Opcode.GETFIELD) {
            end = result.size(); /* aload_0 dup getfield: one before super() */
            before = 3;
        } else if (field) {
            before = 1; /* dup or dup2 */
        } else if (name.equals("storeElement")) {
            before = 3; /* astore dup2 aload */
        } else if (result.getLast().instruction instanceof InvokeInstruction call) {
            before = 2 * (call.typeSymbol().parameterCount() + (call.opcode() == Opcode.INVOKESTATIC ? 0 : 1));
        }
        result.subList(end - before, end).clear();
    }

    private static String compare(CodeAttribute old, CodeAttribute now) {
        List<Place> a = instructions(old), b = withoutProbes(now);
        if (b.stream().anyMatch(p -> p.instruction.opcode() == Opcode.GOTO_W)) {
            return null; /* jumps have changed their forms: OddMethods runs such */
        }
        if (a.size() != b.size()) {
            return a.size() + " instructions, now " + b.size();
        }
        for (int i = 0; i < a.size(); i++) {
            int from = a.get(i).offset, to = b.get(i).offset;
            if (a.get(i).instruction.opcode() != b.get(i).instruction.opcode()) {
                return "another instruction at " + from;
            }
            if (line(old, from) != line(now, to)) {
                return "line " + line(old, from) + " at " + from + ", now " + line(now, to);
            }
            if (!variables(old, from).equals(variables(now, to))) {
                return "variables " + variables(old, from) + " at " + from + ", now "
                        + variables(now, to);
            }
            List<String> handlers = handlers(old, from), more = handlers(now, to);
            if (!more.subList(0, Math.min(handlers.size(), more.size())).equals(handlers)
                    || more.size() > handlers.size() + 1) {
                return "handlers " + handlers + " at " + from + ", now " + more;
            }
        }
        return null;
    }

    private static int line(CodeAttribute code, int offset) {
        int best = -1, line = -1;
        for (Attribute<?> attribute : code.attributes()) {
            if (attribute instanceof java.lang.classfile.attribute.LineNumberTableAttribute table) {
                for (LineNumberInfo row : table.lineNumbers()) {
                    if (row.startPc() <= offset && row.startPc() >= best) {
                        best = row.startPc();
                        line = row.lineNumber();
                    }
                }
            }
        }
        return line;
    }

    private static Set<String> variables(CodeAttribute code, int offset) {
        Set<String> result = new TreeSet<>();
        code.findAttribute(Attributes.localVariableTable()).ifPresent(table -> {
            for (LocalVariableInfo row : table.localVariables()) {
                if (row.startPc() <= offset && offset < row.startPc() + row.length()) {
                    result.add(row.slot() + " " + row.name().stringValue());
                }
            }
        });
        code.findAttribute(Attributes.localVariableTypeTable()).ifPresent(table -> {
            for (LocalVariableTypeInfo row : table.localVariableTypes()) {
                if (row.startPc() <= offset && offset < row.startPc() + row.length()) {
                    result.add(row.slot() + " " + row.signature().stringValue());
                }
            }
        });
        return result;
    }

    private static List<String> handlers(CodeAttribute code, int offset) {
        List<String> result = new ArrayList<>();
        for (ExceptionCatch row : code.exceptionHandlers()) {
            if (code.labelToBci(row.tryStart()) <= offset && offset < code.labelToBci(row.tryEnd())) {
                result.add(row.catchType().map(type -> type.asInternalName()).orElse("any"));
            }
        }
        return result;
    }
}
