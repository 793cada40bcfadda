"""The page in Chromium: how soon it shows something, and how soon the tokens of a text follow a key.

The keys are real ones, typed at random places of a text that stands in the playground. Counted is the time from the key
(the browser's own time stamp) until the tokens of the text with it are in the page, and until the frame that shows them
is drawn; beside it, what of that the request took. The times of the first paint are those of new tabs.

    python benchmarks/page.py book.txt [--bytes 10000] [--keys 40] [--openings 10]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

# Keeps, for the last key, when it was pressed, when tokens came into the page, and when the frame after that was drawn.
WATCH = """() => {
  window.watched = {};
  const field = document.getElementById("text");
  field.addEventListener("keydown", (event) => { window.watched = { key: event.timeStamp }; });
  new MutationObserver(() => {
    const now = window.watched;
    now.shown = performance.now();
    requestAnimationFrame(() => setTimeout(() => { now.drawn = performance.now(); }));
  }).observe(document.querySelector("#columns .tokens"), { childList: true });
}"""
FIRST_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
REQUEST = """() => {
  const asked = performance.getEntriesByType("resource").filter((entry) => entry.name.endsWith("/encode")).at(-1);
  performance.clearResourceTimings();
  return { ...window.watched, asked: asked.startTime, answered: asked.responseEnd, first: asked.responseStart };
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--bytes", type=int, default=10_000, help="how much of the file stands in the playground")
    parser.add_argument("--keys", type=int, default=40)
    parser.add_argument("--openings", type=int, default=10)
    arguments = parser.parse_args()
    text = arguments.file.read_bytes()[: arguments.bytes].decode("utf-8", "ignore")
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "cbpe", "ui", "--no-open", "--port", "0", "--json"]
        environment = {**os.environ, "CBPE_STORE": str(Path(folder) / "models.db")}
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as server, sync_playwright() as driver:
            try:
                assert server.stdout is not None
                url = json.loads(server.stdout.readline())["url"]
                chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
                root = hasattr(os, "geteuid") and os.geteuid() == 0
                browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"] if root else [])
                report("first paint", [first_paint(browser, url) for _ in range(arguments.openings)])
                keys = typed(browser, url, text, arguments.keys)
                for name in keys[0]:
                    report(name, [key[name] for key in keys])
                browser.close()
            finally:
                server.terminate()


def report(name: str, milliseconds: list[float]) -> None:
    low, high = min(milliseconds), max(milliseconds)
    ordered = sorted(milliseconds)
    most = ordered[int(0.9 * (len(ordered) - 1))]
    print(f"{name:34} median {median(milliseconds):6.1f} ms   nine of ten {most:6.1f}   {low:.1f} to {high:.1f}")


def first_paint(browser: Browser, url: str) -> float:
    page = browser.new_page()
    page.goto(url)
    wait(page, f"{FIRST_PAINT} !== undefined")
    found = page.evaluate(FIRST_PAINT)
    page.close()
    return float(found)


def typed(browser: Browser, url: str, text: str, keys: int) -> list[dict[str, float]]:
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.goto(url)
    wait(page, "document.querySelector('.token') !== null")
    page.fill("#text", text)
    page.wait_for_timeout(1000)
    page.evaluate(WATCH)
    chance = random.Random(0)
    found = []
    for _ in range(keys):
        place = chance.randrange(len(text))
        page.evaluate(f"() => document.getElementById('text').setSelectionRange({place}, {place})")
        page.keyboard.press(chance.choice("aeiost .,7"))
        wait(page, "window.watched.drawn > window.watched.shown")
        found.append(times(page.evaluate(REQUEST)))
        page.wait_for_timeout(chance.randrange(250, 400))  # as long as what the page does later takes
    return found


def times(said: dict[str, Any]) -> dict[str, float]:
    return {
        "key to tokens in the page": said["shown"] - said["key"],
        "key to the frame that shows them": said["drawn"] - said["key"],
        "  key to request": said["asked"] - said["key"],
        "  request to first byte": said["first"] - said["asked"],
        "  first byte to last": said["answered"] - said["first"],
        "  answer to tokens": said["shown"] - said["answered"],
    }


def wait(page: Page, condition: str) -> None:
    for _ in range(1000):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(10)
    raise TimeoutError(f"never true: {condition}")


if __name__ == "__main__":
    main()
