#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check-install.sh BUILD_DIR [LIBDIR]: installs a build into a temporary prefix, looks whether all is
# there, and builds and runs a program against it through pkg-config, with either form of the
# library.
set -euo pipefail
build=$1
libdir=${2:-lib}
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
export PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig

cmake --install "$build" --prefix "$prefix" >"$prefix/log" || { cat "$prefix/log" && exit 1; }

missing=0
for path in bin/steptrace bin/stepc bin/metatfc "$libdir"/libsteptrace.{a,so} "$libdir"/steptrace/lib{tracer,malloctracer}.so \
    "$libdir/pkgconfig/steptrace.pc" include/steptrace/{reader,writer,definition,java_trace}.h \
    share/steptrace/{java,hatf}.step share/steptrace/java.dtd share/man/man1/steptrace.1 share/man/man1/stepc.1 \
    share/man/man1/{metatfc,steptrace-check}.1 share/man/man3/libsteptrace.3 share/man/man5/{step,step-dl,hatf,metatf}.5 \
    share/man/man7/libtracer.7 share/bash-completion/completions/steptrace share/doc/steptrace/docs/formats/step.md; do
    [ -e "$prefix/$path" ] || { echo "not installed: $path" && missing=1; }
done
if [ -e "$build/java/steptrace.jar" ]; then
    for jar in "$prefix"/share/java/steptrace.jar "$prefix"/share/maven-repo/steptrace/steptrace/*/steptrace-*.jar; do
        cmp "$build/java/steptrace.jar" "$jar" || missing=1
    done
fi
[ "$missing" = 0 ] || exit 1

{
    for header in "$prefix"/include/steptrace/*.h; do
        echo "#include <steptrace/$(basename "$header")>"
    done
    cat <<'END'
#include <stdio.h>
int main(int argc, char **argv)
{
    struct step_reader *reader = NULL;
    struct step_error error;
    if (argc < 2 || step_reader_open(argv[1], &reader, &error) == STEP_STATUS_OK)
        return 1;
    printf("%s\n", step_status_name(error.status));
    return 0;
}
END
} >"$prefix/program.c"

# try FORM FLAG...: builds and runs; the program opens itself, which is no trace.
try() {
    local form=$1 answer
    shift
    "${CC:-cc}" -std=c11 -Wall -Wextra -Werror -o "$prefix/$form" "$prefix/program.c" "$@"
    answer=$(LD_LIBRARY_PATH=$prefix/$libdir "$prefix/$form" "$prefix/$form")
    [ "$answer" = FORMAT ] || { echo "$form: '$answer' where FORMAT was expected" && exit 1; }
    echo "$form: built and run"
}
# shellcheck disable=SC2162 # pkg-config has a backslash before a space in a path
read -a shared < <(pkg-config --cflags --libs steptrace)
# shellcheck disable=SC2162
read -a static < <(pkg-config --static --cflags --libs steptrace)
try shared "${shared[@]}"
try static "${static[@]/#-lsteptrace/$prefix/$libdir/libsteptrace.a}"

# The same through CMake's find_package().
mkdir "$prefix/consumer"
cat >"$prefix/consumer/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(consumer C)
find_package(StepTrace 0.2 REQUIRED COMPONENTS static)
foreach(form steptrace steptrace_static)
  add_executable(with_${form} ../program.c)
  target_link_libraries(with_${form} PRIVATE StepTrace::${form})
endforeach()
if(NOT EXISTS ${StepTrace_AGENT} OR NOT EXISTS ${StepTrace_DEFINITIONS}/java.step)
  message(FATAL_ERROR "no agent or no definitions: ${StepTrace_AGENT} ${StepTrace_DEFINITIONS}")
endif()
END
cmake -G Ninja -S "$prefix/consumer" -B "$prefix/consumer/build" -DCMAKE_PREFIX_PATH="$prefix" \
    -DCMAKE_C_COMPILER="${CC:-cc}" >"$prefix/log" && cmake --build "$prefix/consumer/build" >>"$prefix/log" ||
    { cat "$prefix/log" && exit 1; }
for form in steptrace steptrace_static; do
    program=$prefix/consumer/build/with_$form
    [ "$("$program" "$program")" = FORMAT ] || { echo "find_package: $form does not work" && exit 1; }
done
echo "find_package: built and run"

# Links between installed pages lead somewhere.
"$(dirname "$0")/check-links.py" "$prefix/share/doc"

# The examples, as somebody with an installed StepTrace would build them.
examples=$(cd "$(dirname "$0")/../examples" && pwd)
for definition in net net2; do
    "$prefix/bin/stepc" --c "$prefix/${definition}_trace" "$examples/$definition.step"
done
for program in producer:net consumer2:net2; do
    "${CC:-cc}" -std=c11 -Wall -Wextra -Werror -I"$prefix" -o "$prefix/${program%:*}" \
        "$examples/${program%:*}.c" "$prefix/${program#*:}_trace.c" "${shared[@]}"
done
export LD_LIBRARY_PATH=$prefix/$libdir
"$prefix/producer" "$prefix/run.step" && "$prefix/consumer2" "$prefix/run.step"
if command -v c++ >/dev/null; then # what stepc makes is for C++ as well
    echo 'int main() { net_trace_reader in; net_trace_open("run.step", &in, nullptr); }' >"$prefix/main.cc"
    c++ -Wall -Wextra -Werror -I"$prefix" -include "$prefix/net_trace.h" -c -o "$prefix/main.o" \
        "$prefix/main.cc" "${shared[@]}"
    "${CC:-cc}" -I"$prefix" -c -o "$prefix/net_trace.o" "$prefix/net_trace.c" "${shared[@]}"
    c++ -o "$prefix/main" "$prefix/main.o" "$prefix/net_trace.o" "${shared[@]}" && "$prefix/main"
fi
"$prefix/bin/stepc" --check "$prefix"/share/steptrace/*.step "$prefix"/share/doc/steptrace/examples/{,definitions/}*.step
"$prefix/bin/steptrace" --version
# shellcheck disable=SC2162
read agent < <(pkg-config --variable=agent steptrace)
[ "$("$prefix/bin/steptrace" version --agent-path)" = "$(realpath "$agent")" ]
