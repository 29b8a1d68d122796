#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pictures.py [--build DIR] [--work DIR] [NAME...]: makes the pictures of the documentation, in docs/pictures.

Records examples/shop/WebShop.java, makes the pages, and photographs them in a headless Chromium, in light and in
dark: NAME-light and NAME-dark, as PNG or SVG. Without names it makes all. Needs chromium, pngquant and tmux
(scripts/deps.sh pictures). scripts/check-docs.py checks that no picture is missing, too large, or without its pair.
"""
import argparse
import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

TOP = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
PICTURES = os.path.join(TOP, "docs", "pictures")
SCHEMES = {"light": 1, "dark": 0}  # Chromium's numbers for prefers-color-scheme


def run(*command, **options):
    return subprocess.run(command, check=True, **options)


def java(tools, name, *arguments, **options):
    """Starts the example program with the agent."""
    if not os.path.exists("com"):
        run("javac", "-d", ".", os.path.join(TOP, "examples/shop/WebShop.java"))
    agent = f"-agentpath:{tools.agent}=file={name},stack=16,finish=10min,events=class+alloc+free+thread+reference"
    return subprocess.Popen(["java", "-Xmx16m", "-XX:+UseSerialGC", agent, "-cp", ".", "com.acme.shop.WebShop", *arguments], **options)


def record(tools, name, *arguments):
    """A trace of the example program; made once."""
    if not os.path.exists(name) and java(tools, name, *arguments).wait() != 0:
        raise RuntimeError(f"{name}: the program failed")
    return name


def photograph(name, page, size, section=None):
    """Both pictures of a page, or of one section of it."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    shown = "shown" + os.path.splitext(page)[1]
    if section:
        style = f"<style>header, footer, main > section:not(#{section}) {{ display: none }} h2 {{ margin-top: 1rem }}</style>"
        text = text.replace("</head>", style + "</head>", 1)
    with open(shown, "w", encoding="utf-8") as file:
        file.write(text)
    for scheme, number in SCHEMES.items():
        run("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=4000",
            "--user-data-dir=" + os.path.abspath("profile"), f"--blink-settings=preferredColorScheme={number}",
            "--window-size=" + size, "--screenshot=" + os.path.abspath("shot.png"), "file://" + os.path.abspath(shown),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        run("pngquant", "--force", "--speed", "1", "--strip", "--output", os.path.join(PICTURES, f"{name}-{scheme}.png"), "256", "shot.png")


def report_page(tools):
    trace = record(tools, "shop.step")
    if not os.path.exists("shop.html"):
        run(tools.steptrace, "report", trace, "-o", "shop.html")
    return "shop.html"


def report(tools):
    photograph("report", report_page(tools), "1000,1013")


def live_heap(tools):
    photograph("live-heap", report_page(tools), "1000,640", "live")


def flame_graph(tools):
    photograph("flame-graph", report_page(tools), "1000,530", "flame")


def compare(tools):
    before, after = record(tools, "shop.step"), record(tools, "shop-fixed.step", "20000", "fixed")
    run(tools.steptrace, "compare", before, after, "--html", "compare.html", stdout=subprocess.DEVNULL)
    photograph("compare", "compare.html", "1000,1100")


def replay(tools):
    """The picture of the verb itself, in a page of its own."""
    run(tools.steptrace, "replay", "--svg=replay.svg", record(tools, "shop.step"), stdout=subprocess.DEVNULL)
    photograph("replay", "replay.svg", "900,420")


def screen_of(command, is_ready):
    """The rows of a terminal in which a command runs, with their escape sequences."""
    def tmux(*arguments):
        return run("tmux", "-L", f"pictures-{os.getpid()}", *arguments, stdout=subprocess.PIPE, text=True).stdout
    tmux("-f", "/dev/null", "new-session", "-d", "-x", "96", "-y", "28", "env LC_ALL=C.UTF-8 " + command)
    try:
        for _ in range(600):
            time.sleep(0.1)
            if is_ready(tmux("capture-pane", "-p")):
                return tmux("capture-pane", "-e", "-p").rstrip("\n").split("\n")
        print(tmux("capture-pane", "-p"))
    finally:
        tmux("kill-server")
    raise RuntimeError(f"{command}: the screen did not show what it should")


def after_code(codes, code):
    """What holds after one more code of an escape sequence: 1 bold, 7 reverse, 30 to 37 colours."""
    if 30 <= code <= 39:
        codes = {other for other in codes if other < 30}
    return set() if code == 0 else codes - {code - 20} if 20 <= code < 30 else codes | ({code} if code != 39 else set())


def svg_of(rows, fore, back, colours):
    """A terminal's rows as SVG; a colour is that of the escape sequence's number."""
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 {18 * len(rows) + 24}" font-family="ui-monospace, monospace" font-size="13.5">',
           f'<rect width="100%" height="100%" rx="8" fill="{back}"/>']
    codes = set()
    for y, row in enumerate(rows):
        column = 0
        for sequence, text in re.findall(r"\x1b\[([\d;]*)m|([^\x1b]+)", row):
            if not text:
                for code in (int(code or 0) for code in sequence.split(";")):
                    codes = after_code(codes, code)
                continue
            x, width = 12 + 8.08 * column, 8.08 * len(text)
            ink = next((colours[code] for code in codes if code in colours), fore)
            if 7 in codes:
                out.append(f'<rect x="{x:.1f}" y="{18 * y + 13}" width="{width:.1f}" height="18" fill="{ink}"/>')
                ink = back
            weight = ' font-weight="bold"' if 1 in codes else ""
            for i, block in enumerate(text):  # eighths of a row, drawn without gaps between rows
                if "\u2581" <= block <= "\u2588":
                    height = 18 * (ord(block) - 0x2580) / 8
                    out.append(f'<rect x="{x + 8.08 * i:.1f}" y="{18 * y + 31 - height:.1f}" width="8.1" height="{height:.1f}" fill="{ink}"/>')
            text = re.sub("[\u2581-\u2588]", " ", text)
            if text.strip():
                out.append(f'<text x="{x:.1f}" y="{18 * y + 26}" textLength="{width:.1f}" xml:space="preserve" fill="{ink}"{weight}>{html.escape(text)}</text>')
            column += len(text)
    return "\n".join(out + ["</svg>", ""])


def watch(tools):
    """The screen of the verb, while the program runs; it is ended afterwards."""
    for name in ("watched.step", "watched.step.live"):
        if os.path.exists(name):
            os.unlink(name)
    with open("watched.log", "w", encoding="utf-8") as log, java(tools, "watched.step", "400000", stdout=log) as program:
        time.sleep(2)
        try:
            wait = lambda screen: re.search(r"running.* (1[2-9]|2\d)(\.\d)? s", screen) and "q quit" in screen
            rows = screen_of(f"{tools.steptrace} watch --interval=500ms watched.step", wait)
        finally:
            program.kill()
    schemes = {"light": ("#1c2430", "#f5f7fa", {32: "#2f7d3b", 33: "#8a5a00", 36: "#0b6f8a", 31: "#a3271f"}),
               "dark": ("#e4e8ee", "#14181f", {32: "#6bb874", 33: "#e0b04d", 36: "#57bcc4", 31: "#ff8a7d"})}
    for scheme, colours in schemes.items():
        with open(os.path.join(PICTURES, f"watch-{scheme}.svg"), "w", encoding="utf-8") as file:
            file.write(svg_of(rows, *colours))


PICTURES_OF = {"report": report, "live-heap": live_heap, "flame-graph": flame_graph, "compare": compare, "replay": replay, "watch": watch}


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
