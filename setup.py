# SPDX-License-Identifier: Apache-2.0
"""For pip: CMake builds the compiled part of the Python package; what is packed is in pyproject.toml."""
import os
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

TOP = os.path.dirname(os.path.abspath(__file__))


class BuildWithCMake(build_ext):
    """Builds the target `steptrace_python` into a directory of its own."""

    def build_extension(self, ext):
        build = os.path.abspath(os.path.join(self.build_temp, "cmake"))
        subprocess.run(["cmake", "-S", TOP, "-B", build, "-DCMAKE_BUILD_TYPE=Release",
                        "-DSTEPTRACE_TESTS=OFF", "-DSTEPTRACE_PYTHON=ON",
                        f"-DPython3_EXECUTABLE={sys.executable}"], check=True)
        jobs = str(os.cpu_count() or 1)
        subprocess.run(["cmake", "--build", build, "-j", jobs, "--target", "steptrace_python"],
                       check=True)
        target = self.get_ext_fullpath(ext.name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(os.path.join(build, "python", "steptrace", "_tables.abi3.so"), target)


def version():
    """That of the project."""
    with open(os.path.join(TOP, "CMakeLists.txt"), encoding="utf-8") as file:
        return re.search(r"project\(steptrace VERSION ([\d.]+)", file.read())[1]


setup(version=version(), cmdclass={"build_ext": BuildWithCMake},
      ext_modules=[Extension("steptrace._tables", [], py_limited_api=True)],
      options={"bdist_wheel": {"py_limited_api": "cp311"}})
