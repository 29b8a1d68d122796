#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pictures.py [--build DIR] [--work DIR] [NAME...]: makes the pictures of the documentation, in docs/pictures.

Records examples/shop/WebShop.java, makes the pages, and photographs them in a headless Chromium, in light and in
dark: NAME-light and NAME-dark, as PNG or SVG. Without names it makes all. Needs chromium, pngquant and tmux
(scripts/deps.sh pictures). scripts/check-docs.py checks that no picture is missing, too large, or without its pair.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
PICTURES = os.path.join(TOP, "docs", "pictures")
SCHEMES = {"light": 1, "dark": 0}  # Chromium's numbers for prefers-color-scheme


def run(*command, **options):
    return subprocess.run(command, check=True, **options)


def record(tools, name, *arguments):
    """A trace of the example program; made once."""
    if not os.path.exists("com"):
        run("javac", "-d", ".", os.path.join(TOP, "examples/shop/WebShop.java"))
    if not os.path.exists(name):
        options = f"file={name},stack=16,finish=10min,events=class+alloc+free+thread+reference"
        run("java", "-Xmx16m", "-XX:+UseSerialGC", f"-agentpath:{tools.agent}={options}", "-cp", ".", "com.acme.shop.WebShop", *arguments)
    return name


def photograph(name, page, size, section=None):
    """Both pictures of a page, or of one section of it."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    if section:
        style = f"<style>header, footer, main > section:not(#{section}) {{ display: none }} h2 {{ margin-top: 1rem }}</style>"
        text = text.replace("</head>", style + "</head>", 1)
    with open("shown.html", "w", encoding="utf-8") as file:
        file.write(text)
    for scheme, number in SCHEMES.items():
        run("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=4000",
            "--user-data-dir=" + os.path.abspath("profile"), f"--blink-settings=preferredColorScheme={number}",
            "--window-size=" + size, "--screenshot=" + os.path.abspath("shot.png"), "file://" + os.path.abspath("shown.html"),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        run("pngquant", "--force", "--speed", "1", "--strip", "--output", os.path.join(PICTURES, f"{name}-{scheme}.png"), "256", "shot.png")


def report_page(tools):
    trace = record(tools, "shop.step")
    if not os.path.exists("shop.html"):
        run(tools.steptrace, "report", trace, "-o", "shop.html")
    return "shop.html"


def report(tools):
    photograph("report", report_page(tools), "1000,1013")


PICTURES_OF = {"report": report}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", default=os.path.join(TOP, "build"), help="directory of the build (default: build)")
    parser.add_argument("--work", help="directory for the traces, kept and used again (default: a temporary one)")
    parser.add_argument("names", nargs="*", help="pictures to make: " + ", ".join(PICTURES_OF))
    options = parser.parse_args()
    options.steptrace = os.path.abspath(os.path.join(options.build, "converter/steptrace"))
    options.agent = os.path.abspath(os.path.join(options.build, "agent/libtracer.so"))
    os.makedirs(PICTURES, exist_ok=True)
    directory = options.work or tempfile.mkdtemp()
    os.makedirs(directory, exist_ok=True)
    os.chdir(directory)
    try:
        for name in options.names or PICTURES_OF:
            PICTURES_OF[name](options)
            print(name)
    finally:
        os.chdir(TOP)
        if not options.work:
            shutil.rmtree(directory, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
