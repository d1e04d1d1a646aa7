"""Drives a headless Chromium through its debugging pipe: no driver, no port, no network."""

from __future__ import annotations

import base64
import itertools
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
_FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
]


class Browser:
    """One tab. Every wait has an end."""

    def __init__(self, profile: Path, seconds: float = 60.0) -> None:
        assert CHROMIUM is not None
        self._seconds = seconds
        commands, self._out = os.pipe()
        self._in, answers = os.pipe()
        # Chromium reads commands from descriptor 3 and writes answers to 4.
        shell = f'exec "$@" 3<&{commands} 4>&{answers}'
        self._program = subprocess.Popen(
            ["bash", "-c", shell, "bash", CHROMIUM, *_FLAGS, f"--user-data-dir={profile}"],
            pass_fds=(commands, answers),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(commands)
        os.close(answers)
        self._numbers = itertools.count(1)
        self._buffer = b""
        self.events: list[Mapping[str, Any]] = []
        tab = self.send("Target.createTarget", {"url": "about:blank"}, tab=False)
        attached = self.send(
            "Target.attachToTarget", {"targetId": tab["targetId"], "flatten": True}, tab=False
        )
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def send(
        self, method: str, params: Mapping[str, Any] | None = None, *, tab: bool = True
    ) -> Mapping[str, Any]:
        """Do one command and return its result; events that come meanwhile are kept."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": params or {}}
        if tab:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + self._seconds
        while True:
            answer = self._read(end)
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return dict(answer["result"])
            self.events.append(answer)

    def open(self, page: Path | str, *, fragment: str = "") -> None:
        """Load a page and wait for its load event."""
        address = page if isinstance(page, str) else page.resolve().as_uri() + fragment
        self.events.clear()
        # Through another page, so that a change of the fragment alone is a load too.
        self.send("Page.navigate", {"url": "about:blank"})
        self.send("Page.navigate", {"url": address})
        end = time.monotonic() + self._seconds
        loaded = "document.readyState + location.href.split('#')[0]"
        while self.run(loaded) != "complete" + address.partition("#")[0]:
            assert time.monotonic() < end, f"{address} did not load"
            time.sleep(0.02)

    def run(self, script: str) -> Any:
        """What an expression of JavaScript comes to."""
        result = self.send(
            "Runtime.evaluate",
            {"expression": script, "returnByValue": True, "awaitPromise": True},
        )
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def press(self, key: str) -> None:
        """Press and let go of a key, such as "ArrowRight"."""
        text = {"text": key} if len(key) == 1 else {}
        code = {"key": key, "code": key, **text}
        self.send("Input.dispatchKeyEvent", {"type": "keyDown", **code})
        self.send("Input.dispatchKeyEvent", {"type": "keyUp", **code})

    def look(self, width: int, height: int, *, dark: bool = False) -> None:
        """Set the size of the window in pixels, and whether its owner likes it dark."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.send("Emulation.setDeviceMetricsOverride", metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", {"features": [scheme]})

    def picture(self, *, whole: bool = False) -> bytes:
        """A PNG of the window, or of the whole page."""
        params = {"format": "png", "captureBeyondViewport": whole}
        return base64.b64decode(self.send("Page.captureScreenshot", params)["data"])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._out)
        try:
            self._program.wait(10)
        except subprocess.TimeoutExpired:
            self._program.kill()
            self._program.wait(10)
        os.close(self._in)

    def _read(self, end: float) -> Mapping[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], max(0.0, end - time.monotonic()))
            assert ready, "Chromium did not answer in time"
            content = os.read(self._in, 1 << 20)
            assert content, "Chromium has ended"
            self._buffer += content
        message, _, self._buffer = self._buffer.partition(b"\0")
        return dict(json.loads(message))
