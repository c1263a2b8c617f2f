"""The least that a chat gateway can be: one WebSocket, the ollama client, no other part.

What it costs is what any gateway costs here. `python -m scripts.benchmarks.bare_gateway PORT MODEL_URL`
"""

from __future__ import annotations

import json
import sys

import ollama
import uvicorn
from fastapi import FastAPI, WebSocket, WebSocketDisconnect

from scripts.benchmarks.stamped_model import MODEL


def make(url: str) -> FastAPI:
    """The app."""
    app, client = FastAPI(), ollama.AsyncClient(url)

    @app.websocket("/ws/chat")
    async def chat(socket: WebSocket) -> None:
        await socket.accept()
        try:
            while True:
                query = json.loads(await socket.receive_text())["query"]
                await answer(socket, query)
        except WebSocketDisconnect:
            return

    async def answer(socket: WebSocket, query: str) -> None:
        messages = [{"role": "user", "content": query}]
        text = ""
        async for chunk in await client.chat(model=MODEL, messages=messages, stream=True):
            for call in chunk.message.tool_calls or []:
                messages.append({"role": "tool", "content": "noon", "tool_name": call.function.name})
            text += chunk.message.content or ""
            await socket.send_text(json.dumps({"type": "answer_chunk", "chunk": chunk.message.content}))
        if messages[-1]["role"] == "tool" and not text:
            async for chunk in await client.chat(model=MODEL, messages=messages, stream=True):
                text += chunk.message.content or ""
        await socket.send_text(json.dumps({"type": "response", "answer": text, "query_id": ""}))

    return app


if __name__ == "__main__":
    uvicorn.run(make(sys.argv[2]), host="127.0.0.1", port=int(sys.argv[1]), log_level="critical")
