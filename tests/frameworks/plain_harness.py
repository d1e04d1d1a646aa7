"""A harness for Verifiers that asks the model once for each turn, in this process."""

from __future__ import annotations

from typing import Any

import httpx
import verifiers.v1 as vf
from verifiers.v1.dialects.chat import message_to_wire


class PlainConfig(vf.HarnessConfig):
    pass


class PlainHarness(vf.Harness[PlainConfig]):
    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: Any,
        trace: Any,
        runtime: Any,
        endpoint: str,
        secret: str,
        mcp_urls: Any,
        data: Any,
    ) -> vf.ProgramResult:
        system, said = self.resolve_prompt(data)
        told = [{"role": "system", "content": system}, *map(message_to_wire, said)]
        # Without TLS: reading the certificates takes longer than a turn.
        async with httpx.AsyncClient(timeout=60, verify=False) as client:
            answer = await client.post(
                f"{endpoint}/chat/completions",
                json={"model": ctx.model, "messages": told},
                headers={"Authorization": f"Bearer {secret}"},
            )
        answer.raise_for_status()
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")


__all__ = ["PlainHarness"]
