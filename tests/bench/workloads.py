# SPDX-License-Identifier: Apache-2.0
"""The workloads that the benchmarks run: scripts by path, and those that only need a JDK."""
import os
import pathlib
import subprocess

CLASSES = 120
HERE = pathlib.Path(__file__).resolve().parent


def name(workload):
    return pathlib.Path(workload).stem


def class_source(number):
    """A class with what keeps a compiler busy: generics, lambdas, switches, string building."""
    other = f"Generated{(number * 7 + 1) % CLASSES}"
    methods = "\n".join(f"""
    public <T extends Comparable<T>> Map<String, List<T>> group{m}(List<T> in, {other} other) {{
        Map<String, List<T>> out = new TreeMap<>();
        for (T item : in) {{
            String key = "k" + (item.hashCode() % {m + 3}) + label(other == null ? {m} : {number});
            out.computeIfAbsent(key, k -> new ArrayList<>()).add(item);
        }}
        int limit = in.stream().map(Object::hashCode).filter(h -> h % 2 == {m % 2}).reduce(0, Integer::sum);
        return limit > {m * 17} ? out : Collections.<String, List<T>>emptyMap();
    }}""" for m in range(6))
    return f"""package generated;
import java.util.*;
public class Generated{number} {{
    private final int[] table = {{{", ".join(str(i * number % 97) for i in range(24))}}};
    static String label(int value) {{
        switch (value % 4) {{
            case 0: return "zero" + value;
            case 1: return "one" + value * 2L;
            case 2: return value + "two";
            default: return "many" + (value >> 1) + '!';
        }}
    }}{methods}
    public int sum() {{ int s = 0; for (int v : table) s += v * {number}; return s; }}
}}
"""


def prepare_javac(directory):
    """Writes the sources once a run; their list goes to the compiler."""
    sources = directory / "generated"
    listing = directory / "generated.lst"
    if not listing.exists():
        sources.mkdir()
        for number in range(CLASSES):
            (sources / f"Generated{number}.java").write_text(class_source(number))
        listing.write_text("".join(f"{path}\n" for path in sorted(sources.iterdir())))
    return listing


def prepare_program(directory, java, program):
    """Compiles tests/bench/PROGRAM.java with the JDK that runs it."""
    classes = directory / "classes"
    if not (classes / f"{program}.class").exists():
        javac = pathlib.Path(java).resolve().parent / "javac"
        subprocess.run([javac, "-d", classes, HERE / f"{program}.java"], check=True)
    return classes


def command(workload, java, java_args, work, directory):
    """What to execute; scripts get the same through JAVA, JAVA_ARGS and WORK_DIR."""
    start = [java, *java_args.split()]
    if workload == "javac":
        return [*start, "-m", "jdk.compiler/com.sun.tools.javac.Main", "-nowarn", "-d",
                str(work / "classes"), f"@{prepare_javac(directory)}"]
    programs = {"threads": "ThreadedChurn", "hello": "HelloWorld",
                "calls": "MethodCalls", "sites": "SampledSites"}
    if workload in programs:
        program = programs[workload]
        return [*start, "-cp", str(prepare_program(directory, java, program)), program]
    return [os.path.abspath(workload)]
