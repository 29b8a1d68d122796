#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fresh_projects.py [--network] JAR [maven|gradle|testng]...: new projects with a limit on what a test allocates, from the
lines of docs/java-api.md to a build that fails and, with the right limit, one that passes; seconds of each.

maven: Surefire and JUnit 5.  gradle: JUnit 5 by its console, as Debian's Gradle 4.4.1 has no useJUnitPlatform().  testng:
Gradle and TestNG, with steptrace.Allocations.  All of Debian's packages: maven, libsurefire-java,
libmaven-{compiler,resources,install}-plugin-java, gradle, testng, junit5.  They run without a network (as root).
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import time

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/java-api.md"
DEBIAN = "file:///usr/share/maven-repo"
INSTALL = "org.apache.maven.plugins:maven-install-plugin:3.1.0:install-file"
ALONE = ["unshare", "-n", "sh", "-c", 'ip link set lo up; exec "$@"', "sh"]
FAILS = "shop.ShopTest.checkout allocates 6 objects, 176 bytes; at most {} objects pass"
TEST = """package shop;

class ShopTest {{
    static java.util.List<Object> cart;

    @org.junit.jupiter.api.Test
    @steptrace.junit.MaxAllocated(objects = {})
    void checkout() {{
        cart = new java.util.ArrayList<>();
        for (int i = 0; i < 4; i++)
            cart.add(new int[1]);
    }}
}}
"""
TESTNG = """package shop;

public class ShopTest {{
    static java.util.List<Object> cart;

    @org.testng.annotations.Test
    public void checkout() throws Exception {{
        steptrace.Allocations of = steptrace.Allocations.measure(() -> {{
            cart = new java.util.ArrayList<>();
            for (int i = 0; i < 4; i++)
                cart.add(new int[1]);
        }});
        if (of.objects() > {0})
            throw new AssertionError("shop.ShopTest.checkout allocates " + of.toString().replaceFirst("\\n",
                "; at most {0} objects pass\\n"));
    }}
}}
"""


def block(language):
    """The page's first block of this language."""
    return re.search(rf"```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)[1]


class Project:
    """A directory with a project, and how it is built."""

    def __init__(self, place, command, test, files):
        self.place, self.command, self.test = place, command, test
        for name, text in files.items():
            (place / name).write_text(text)
        (place / "src/test/java/shop").mkdir(parents=True)

    def build(self, most):
        """Exit status, output and seconds with a limit of so many objects."""
        (self.place / "src/test/java/shop/ShopTest.java").write_text(self.test.format(most))
        begin = time.monotonic()
        run = subprocess.run(self.command, cwd=self.place, capture_output=True, text=True, check=False)
        return run.returncode, run.stdout + run.stderr, time.monotonic() - begin


def settings(repository):
    return (f"<settings><localRepository>{repository}</localRepository><mirrors><mirror><id>debian</id>"
            f"<mirrorOf>*</mirrorOf><url>{DEBIAN}</url></mirror></mirrors></settings>")


def maven(scratch, alone):
    plugins = "".join(f"<plugin><artifactId>maven-{name}-plugin</artifactId><version>{version}</version></plugin>"
                      for name, version in (("surefire", "2.22.3"), ("compiler", "3.10.1"), ("resources", "3.3.0")))
    pom = f"""<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>shop</groupId><artifactId>shop</artifactId><version>1</version>
<properties><maven.compiler.release>17</maven.compiler.release></properties>
<dependencies><dependency><groupId>org.junit.jupiter</groupId><artifactId>junit-jupiter</artifactId>
<version>5.9.2</version><scope>test</scope></dependency>
{block("xml")}</dependencies>
<build><plugins>{plugins}</plugins></build></project>
"""
    return Project(scratch / "maven", [*alone, "mvn", "-q", "-s", "settings.xml", "test"], TEST,
                   {"pom.xml": pom, "settings.xml": settings(scratch / "m2")})


def gradle_project(scratch, alone, name, test, framework, how):
    """With Debian's Gradle: its testCompile is called testImplementation since."""
    dependencies = block("groovy").replace("dependencies {", f"dependencies {{\n    testImplementation {framework}")
    lines = (f"apply plugin: 'java'\nrepositories {{\n    maven {{ url '{scratch}/m2' }}\n    maven {{ url '{DEBIAN}' }}\n}}\n"
             f"{dependencies}{how}")
    return Project(scratch / name, [*alone, "gradle", "--offline", "--no-daemon", "-g", scratch / "gradle-home", "check"], test,
                   {"build.gradle": lines})


def gradle(scratch, alone):
    console = """task limits(type: JavaExec) {
    dependsOn testClasses
    main = 'org.junit.platform.console.ConsoleLauncher'
    classpath = sourceSets.test.runtimeClasspath
    args '--disable-banner', '--scan-classpath', sourceSets.test.output.classesDirs.asPath
}
check.dependsOn limits
test.enabled = false
"""
    return gradle_project(scratch, alone, "gradle", TEST,
                          "'org.junit.jupiter:junit-jupiter:5.9.2', 'org.junit.platform:junit-platform-console:1.9.1'", console)


def testng(scratch, alone):
    return gradle_project(scratch, alone, "testng", TESTNG, "'org.testng:testng:debian'",
                          "test {\n    useTestNG()\n    testLogging { exceptionFormat = 'full' }\n}\n")


KINDS = {"maven": maven, "gradle": gradle, "testng": testng}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("jar", type=pathlib.Path)
    parser.add_argument("kinds", nargs="*", metavar="|".join(KINDS))
    parser.add_argument("--network", action="store_true")
    at = parser.parse_args()
    alone = [] if at.network else ALONE
    faults = 0
    with tempfile.TemporaryDirectory() as directory:
        scratch = pathlib.Path(directory)
        (scratch / "settings.xml").write_text(settings(scratch / "m2"))
        begin = time.monotonic()
        subprocess.run([*alone, "mvn", "-q", "-s", scratch / "settings.xml", INSTALL, f"-Dfile={at.jar.resolve()}"], check=True)
        print(f"install-file: {time.monotonic() - begin:.0f} s")
        for kind in at.kinds or KINDS:
            (scratch / kind).mkdir()
            project = KINDS[kind](scratch, alone)
            for most in (5, 6):
                status, output, seconds = project.build(most)
                is_right = (status != 0 and FAILS.format(most) in output) if most == 5 else status == 0
                print(f"{kind}, at most {most} objects: {'passes' if status == 0 else 'fails'}, {seconds:.0f} s")
                if not is_right:
                    faults += 1
                    print(output)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
