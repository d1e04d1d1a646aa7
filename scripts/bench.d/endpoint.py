"""What episodes at once gain where a model's endpoint takes a second to answer.

The planner `chat`, with images of 300x300, and an endpoint on loopback, in a process of its own,
whose every answer comes after a second: one episode at a time, and sixteen. On the toy house, and
on the household, where scenes that are built and simulators that share the processor count too.
And how many requests are in flight with 32 episodes at once, from the first request to the last: an
average by the endpoint's own clock.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar
from urllib.request import urlopen

INHABIT = Path(sys.executable).with_name("inhabit")
SECONDS = 1.0
CROWD, STEPS = 16, 6
MANY, LONGER = 32, 2.0


def main() -> None:
    """Print the figures; with the word `serve`, be the endpoint."""
    if sys.argv[1:2] == ["serve"]:
        _Slow.seconds = float(sys.argv[2])
        serve()
        return
    with endpoint(SECONDS) as base_url:
        figures = {
            **measure(base_url, "toy", "pixels=300", "max_invalid=100", bound=">= 12"),
            **measure(base_url, "alfred", "max_invalid=100"),
        }
    with endpoint(LONGER) as base_url:
        figures |= in_flight(base_url)
    sys.stdout.write(json.dumps(figures) + "\n")


@contextmanager
def endpoint(seconds: float) -> Iterator[str]:
    """The base URL of an endpoint that takes `seconds` for each answer."""
    words = [sys.executable, __file__, "serve", str(seconds)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


def measure(base_url: str, env: str, *sets: str, bound: str = "") -> dict[str, object]:
    """The figures of one environment."""
    alone = steps_per_second(base_url, env, sets, workers=1, episodes=2)
    crowd = steps_per_second(base_url, env, sets, workers=CROWD, episodes=2 * CROWD)
    return {
        f"{env}_gain": {
            "value": round(crowd / alone, 2),
            "unit": "x",
            "bound": bound,
            "what": f"{CROWD} episodes at once: one, an answer taking {SECONDS:g} s",
        },
        f"{env}_steps": {
            "value": round(crowd, 2),
            "unit": "/s",
            "bound": "",
            "what": f"steps with {CROWD} episodes at once",
            "baseline": f"{alone:.2f} with one",
        },
    }


def in_flight(base_url: str) -> dict[str, object]:
    """The requests that the endpoint works on at a time, of `MANY` episodes of the toy house."""
    sets = ("pixels=300", "max_invalid=100", "in_process=true")
    steps_per_second(base_url, "toy", sets, workers=MANY, episodes=2 * MANY)
    with urlopen(f"{base_url}/in_flight") as answer:
        average = json.load(answer)
    what = f"requests in flight with {MANY} episodes at once, an answer taking {LONGER:g} s"
    return {"in_flight": {"value": round(average, 1), "unit": "", "bound": ">= 28", "what": what}}


def steps_per_second(
    base_url: str, env: str, sets: Sequence[str], *, workers: int, episodes: int
) -> float:
    """Of a run whose episodes have `STEPS` steps, from its first sight to its last action.

    Raises:
        RuntimeError: an episode ended otherwise, so that there is nothing to compare.
    """
    with tempfile.TemporaryDirectory() as folder:
        words = ["run", env, "--agent", "chat", "--model", "openai:slow", "--base-url", base_url]
        words += ["--n", str(episodes), "--workers", str(workers), "--max-steps", str(STEPS)]
        words += [word for one in sets for word in ("--set", one)] + ["--out", folder]
        subprocess.run(
            [str(INHABIT), *words],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        lines = [
            json.loads(line)
            for file in Path(folder).glob("episodes/*/episode.jsonl")
            for line in file.read_text().splitlines()
        ]
    acted: list[float] = [line["time"] for line in lines if line["kind"] == "act"]
    if len(acted) != episodes * STEPS:
        ended = sorted({f"{x['ending']}: {x['error']}" for x in lines if x["kind"] == "end"})
        raise RuntimeError(f"{len(acted)} steps in {episodes} episodes of {env}: {ended}")
    first: float = min(line["time"] for line in lines if line["kind"] == "see")
    return len(acted) / (max(acted) - first)


def serve() -> None:
    """Answer for ever, each time with one of the actions that were listed."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Slow)
    server.daemon_threads = True
    sys.stdout.write(f"http://127.0.0.1:{server.server_address[1]}/v1\n")
    sys.stdout.flush()
    threading.Thread(target=server.serve_forever).start()


class _Slow(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    seconds: ClassVar[float]
    begun: ClassVar[list[float]] = []
    """When each request came."""

    def do_GET(self) -> None:
        """How many were in flight on average, from the first of them to the last."""
        first, last = min(self.begun), max(self.begun)
        self._send(sum(min(self.seconds, last - one) for one in self.begun) / (last - first))

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.begun.append(time.monotonic())
        time.sleep(self.seconds)
        self._send(answer(asked))

    def _send(self, said: object) -> None:
        body = json.dumps(said).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing of every request."""


def answer(asked: Mapping[str, list[Mapping[str, list[Mapping[str, str]]]]]) -> object:
    """One of the first four actions after the other: they walk and look, and solve nothing."""
    told = "".join(part.get("text", "") for part in asked["messages"][-1]["content"])
    listed = re.findall(r"^- (.*)$", told, re.MULTILINE)
    said = {"description": "", "reasoning": "", "action": listed[told.count("->") % 4]}
    message = {"role": "assistant", "content": json.dumps(said)}
    usage = {"prompt_tokens": 500, "completion_tokens": 30}
    return {"choices": [{"index": 0, "message": message}], "usage": usage}


if __name__ == "__main__":
    main()
