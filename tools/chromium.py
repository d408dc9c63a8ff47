"""Find or install a Chromium. ``python tools/chromium.py`` prints its path.

It tries ``HCVIZ_CHROMIUM``, the PATH, and Playwright's browser. With ``--install`` it then tries
Debian's package (as root) and Playwright's download. The script needs only Python, and the package
playwright for Playwright's browser.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def runs(path: str) -> bool:
    """Return True if the browser starts. Ubuntu's ``chromium-browser`` may be a stub."""
    try:
        asked = [path, "--version", "--no-sandbox"]
        return subprocess.run(asked, capture_output=True, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def find() -> str | None:
    """Return the path of a working Chromium, or None.

    Raises
    ------
    SystemExit
        If HCVIZ_CHROMIUM is set, but its browser does not start.
    """
    named = os.environ.get("HCVIZ_CHROMIUM")
    if named:
        path = shutil.which(named)
        if path and runs(path):
            return path
        sys.exit(f"HCVIZ_CHROMIUM names {named}, which is not a browser that runs here.")
    for name in NAMES:
        path = shutil.which(name)
        if path and runs(path):
            return path
    return find_of_playwright()


def find_of_playwright() -> str | None:
    """Return the path of the browser that ``playwright install chromium`` has installed."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() and runs(path) else None


def install() -> str | None:
    """Install Debian's package as root, or else Playwright's browser. Return the path or None."""
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    debian = root and shutil.which("apt-get") is not None
    if debian:
        quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in (
            ["apt-get", "update", "-qq"],
            ["apt-get", "install", "-y", "-qq", "chromium"],
        ):
            print(f"hcviz: {' '.join(command)}", file=sys.stderr)
            subprocess.run(command, env=quiet, stdout=sys.stderr, check=False)
        found = find()
        if found:
            return found
    command = [sys.executable, "-m", "playwright", "install", "chromium"]
    if debian:
        command.insert(-1, "--with-deps")
    print("hcviz: playwright install chromium", file=sys.stderr)
    subprocess.run(command, stdout=sys.stderr, check=False)
    return find()


MISSING = (
    "The browser tests need Chromium, and none was found or could be installed: "
    "install it, or set HCVIZ_CHROMIUM to its path."
)


def main() -> None:
    path = find() or (install() if "--install" in sys.argv[1:] else None)
    if path is None:
        sys.exit(MISSING)
    print(path)


if __name__ == "__main__":
    main()
