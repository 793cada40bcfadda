"""Chromium, for the tests of this folder that look at pages: one for each file, and a page of its own for each test."""

import os
import shutil

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield opened
        opened.close()


@pytest.fixture
def page(browser):
    """A page that must end without a fault on its console, but those that a test asks for."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened = context.new_page()
    faults = []
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("console", lambda message: message.type == "error" and faults.append(message.text))
    yield opened
    context.close()
    asked_for = ("requires 'TrustedHTML'", "status of 400", "status of 401", "status of 404")
    assert [fault for fault in faults if not any(said in fault for said in asked_for)] == []
