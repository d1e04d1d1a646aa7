"""What goes over the wire to an endpoint, and how much may come back.

An endpoint may be anybody's. Its answers are unpacked here, up to a size: 3 MB of gzip can be made
to unpack to gigabytes. A redirect that leads to another host is refused, since what is sent, with
the images of a home and a key, was meant for the host that the user named.
"""

from __future__ import annotations

import zlib
from functools import cache
from importlib import import_module
from typing import Any

import openai

from inhabit.agents.models.endpoints.retries import may_pass

MOST = 1 << 24
"""Bytes of an answer, unpacked: 16 MiB."""
_PACKED = {"gzip": 31, "x-gzip": 31}
"""Content-Encoding -> the `wbits` of zlib."""
_REDIRECTS = 5


@cache
def certificates() -> Any:
    """The TLS context of the HTTP library of `openai`, made once: it takes a tenth of a second."""
    library = openai.DefaultAsyncHttpxClient.__mro__[1].__module__.partition(".")[0]
    return import_module(library).create_ssl_context()


class RefusedAnswerError(Exception):
    """An answer that is not taken, and would not be another time either."""


class BoundedClient(openai.DefaultAsyncHttpxClient):
    """An HTTP client that takes answers of a bounded size alone, and from nobody else."""

    # Which HTTP library it is depends on the version of `openai`: hence `Any`.
    async def send(self, request: Any, *, stream: bool = False, **options: Any) -> Any:
        """The answer to a request, unpacked and whole; redirects on the same host are followed.

        Raises:
            RefusedAnswerError: it is too large, packed in an unknown way, or leads elsewhere.
        """
        options["follow_redirects"] = False
        for _ in range(_REDIRECTS):
            request.headers["Accept-Encoding"] = "gzip"
            answer = await super().send(request, stream=True, **options)
            try:
                if answer.next_request is None:
                    return await _bounded(answer)
                _check_redirect(request, answer.next_request)
                request = answer.next_request
            finally:
                await answer.aclose()
        raise RefusedAnswerError("it redirects too many times")


async def _bounded(answer: Any) -> Any:
    try:
        content = await _unpacked(answer)
    except RefusedAnswerError:
        if not may_pass(answer.status_code):
            raise
        content = b""  # Another try is made, whatever the body is.
    headers = [
        (name, value)
        for name, value in answer.headers.raw
        if name.lower() not in (b"content-encoding", b"content-length", b"transfer-encoding")
    ]
    return type(answer)(
        answer.status_code, headers=headers, content=content, request=answer.request
    )


def _check_redirect(request: Any, to: Any) -> None:
    here, there = ((one.url.scheme, one.url.host, one.url.port) for one in (request, to))
    if here != there:
        raise RefusedAnswerError(
            f"it leads to another address, {to.url.scheme}://{to.url.netloc.decode()}: name that "
            "with --base-url if you trust it"
        )
    if request.method != to.method:
        raise RefusedAnswerError(
            f"it redirects to {to.url.path} in a way that turns {request.method} into {to.method} "
            "and drops the request body: give the final path with --base-url"
        )


async def _unpacked(answer: Any) -> bytes:
    encoding = answer.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "", *_PACKED):
        raise RefusedAnswerError(
            f"its answer is compressed as {encoding!r}, which was not requested"
        )
    unpack = zlib.decompressobj(_PACKED[encoding]) if encoding in _PACKED else None
    content = bytearray()
    async for packed in answer.aiter_raw():
        try:
            more = packed if unpack is None else unpack.decompress(packed, MOST + 1 - len(content))
        except zlib.error as error:
            raise RefusedAnswerError(f"its answer can't be decompressed ({error})") from error
        content += more
        if len(content) > MOST:
            raise RefusedAnswerError(f"its answer is larger than {MOST:,} bytes")
    return bytes(content)
