"""Takes the pictures of the pages of cbpe ui, in light and in dark, in Chromium: docs/pictures/*.png.

    python docs/draw_pages.py docs/pictures

It needs the extras browser, plot (Pillow comes with matplotlib) and web, and Chromium. The texts in the store come with
Python, and another version of Python has other ones.
"""

import argparse
import json
import os
import pydoc_data.topics
import shutil
import subprocess
import sys
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import sync_playwright

import cbpe
from store import ModelStore

TEXT = """Tokenizers cut naïve text up.
    def f(x): return x + 12345
Добрый день, καλημέρα ☕ → ∞
"""
PLAYGROUND = [("t", "gpt2"), ("t", "cl100k_base"), ("t", "o200k_base"), ("text", TEXT)]
# The name of a picture: the page, and where on it the picture begins and ends.
PICTURES = {
    "playground": (f"#{urlencode(PLAYGROUND)}", "header", "#columns"),
    "store": (f"store#{urlencode({'v': 'docs@4'})}", "#one", "#curve"),
}
WIDTH = 1160
SCALE = 1.6  # pixels for each of the page's
COLOURS = 96  # which make a picture small; text on flat colours looks the same


def fill(path):
    """A store with a few versions that came from one another."""
    text = "\n".join(pydoc_data.topics.topics.values())
    code = "\n".join(each.read_text(encoding="utf-8") for each in sorted(Path(json.__file__).parent.glob("*.py")))
    with ModelStore(path) as models:

        def save(name, text, size, parent=None, special=(), **labels):
            initial = None if parent is None else models.load(parent)
            tok = cbpe.train(text, size, initial=initial, special_tokens=special)
            metrics = {"bytes_per_token": len(text.encode()) / tok.count(text)}
            models.save(tok, name, parent=parent, metrics=metrics, **labels)

        save("docs", text, 1500, aliases=["prod"], tags={"language": "en"})
        save("docs", text, 3000, "docs@1", aliases=["prod"], tags={"language": "en"})
        save("code", code, 3500, "docs@2", tags={"language": "python"})
        save("docs", text[:300_000], 2500, "docs@1", aliases=["trial"])
        notes = "Took the place of docs@2 after a week of trial."
        labels = {"language": "en", "reviewed": "yes"}
        save("docs", text, 6000, "docs@2", special=["<|end|>"], aliases=["prod"], tags=labels, notes=notes)
        save("code", code, 4200, "code@1", aliases=["prod"])


def shoot(browser, url, name, folder):
    """One page, in light and in dark."""
    address, first, last = PICTURES[name]
    for scheme in ("light", "dark"):
        window = {"width": WIDTH, "height": 1200}
        page = browser.new_page(viewport=window, device_scale_factor=SCALE, color_scheme=scheme)
        page.goto(url + address)
        page.locator("#columns .token, #one .graph li").first.wait_for()
        page.wait_for_timeout(500)
        page.evaluate(
            "() => { document.activeElement.blur(); scrollTo(0, 0); document.getElementById('text').rows = 4; }"
        )
        page.wait_for_timeout(100)
        top, bottom = page.locator(first).bounding_box(), page.locator(last).bounding_box()
        y = max(top["y"] - 10, 0)
        clip = {"x": 0, "y": y, "width": WIDTH, "height": bottom["y"] + bottom["height"] + 14 - y}
        taken = Image.open(BytesIO(page.screenshot(clip=clip)))
        taken.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(
            folder / f"{name}-{scheme}.png", optimize=True
        )
        page.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the pictures go")
    folder = parser.parse_args().folder
    folder.mkdir(exist_ok=True)
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    with TemporaryDirectory() as place:
        fill(Path(place) / "models.db")
        command = [sys.executable, "-m", "cbpe", "ui", "--no-open", "--port", "0", "--json"]
        environment = {**os.environ, "CBPE_STORE": str(Path(place) / "models.db")}
        with (
            subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as server,
            sync_playwright() as playwright,
        ):
            try:
                url = json.loads(server.stdout.readline())["url"]
                arguments = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
                browser = playwright.chromium.launch(executable_path=chromium, args=arguments)
                for name in PICTURES:
                    shoot(browser, url, name, folder)
                browser.close()
            finally:
                server.terminate()


if __name__ == "__main__":
    main()
