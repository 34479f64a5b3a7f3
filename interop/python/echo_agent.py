"""A small agent on the Python SDK: it answers every prompt with the prompt's own text, one word at a time."""

import asyncio
from typing import Any
from uuid import uuid4

from acp import (
    Agent,
    InitializeResponse,
    NewSessionResponse,
    PromptResponse,
    RequestError,
    run_agent,
    update_agent_message_text,
)

GAP_SECONDS = 0.05


class EchoAgent(Agent):
    """Keeps one cancel flag per session, and nothing else."""

    def __init__(self) -> None:
        self._client: Any = None
        self._cancelled: dict[str, asyncio.Event] = {}

    def on_connect(self, conn: Any) -> None:
        self._client = conn

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        return InitializeResponse(protocol_version=min(protocol_version, 1))

    async def new_session(self, cwd: str, **_: Any) -> NewSessionResponse:
        session_id = uuid4().hex
        self._cancelled[session_id] = asyncio.Event()
        return NewSessionResponse(session_id=session_id)

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> PromptResponse:
        cancelled = self._cancelled.get(session_id)
        if cancelled is None:
            raise RequestError.invalid_params({"sessionId": session_id})
        cancelled.clear()
        text = " ".join(block.text for block in prompt if block.type == "text")
        words = text.split(" ")
        slow = "STEER:slow" in words
        gap = GAP_SECONDS if slow or "STEER:stream" in words else 0
        if slow:
            words = words * 200
        for word in words:
            if cancelled.is_set():
                return PromptResponse(stop_reason="cancelled")
            await self._client.session_update(session_id, update_agent_message_text(word + " "))
            await asyncio.sleep(gap)
        return PromptResponse(stop_reason="end_turn")

    async def cancel(self, session_id: str, **_: Any) -> None:
        if session_id in self._cancelled:
            self._cancelled[session_id].set()


if __name__ == "__main__":
    asyncio.run(run_agent(EchoAgent()))
