"""`rana mcp` with a client that others wrote."""

import asyncio
import json
import pathlib
import subprocess
from collections.abc import Awaitable, Callable

import jsonschema
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from conftest import FIVE

SUPPORT = [list(pair) for pair in FIVE]
READING = ["find_entity", "describe_entity", "list_relations", "complete_relation", "explain"]


async def converse(session: ClientSession, tools: list[str]) -> None:
    """A conversation that uses every tool for reading; what each gives fits the schema that it states."""
    await session.initialize()
    listed = (await session.list_tools()).tools
    assert [tool.name for tool in listed] == tools
    schemas = {tool.name: tool for tool in listed}

    async def call(name: str, **arguments: object) -> dict[str, object]:
        jsonschema.validate(arguments, schemas[name].input_schema)
        result = await session.call_tool(name, arguments)
        assert not result.is_error, result
        assert result.structured_content is not None
        jsonschema.validate(result.structured_content, schemas[name].output_schema)
        return result.structured_content

    found = await call("find_entity", query="virsu", limit=3)
    assert found["entities"][0]["name"] == "virus"
    described = await call("describe_entity", entity="virus")
    assert described["degree"] > 10
    relations = await call("list_relations", query="treat")
    assert relations["relations"][0]["name"] == "treats"
    question = {"relation": "causes", "support": SUPPORT}
    completed = await call("complete_relation", **question, heads=["virus"], top=3)
    answers = completed["results"][0]["answers"]
    assert len(answers) == 3 and 0 <= answers[0]["confidence"] <= 1
    why = await call("explain", **question, head="virus", tail=answers[0]["tail"]["name"])
    assert why["tail"]["name"] == answers[0]["tail"]["name"]
    plausible = await call("complete_relation", **question, heads="plausible", top=1)
    assert len(plausible["results"]) > 10

    wrong = await session.call_tool("complete_relation", {"relation": "cause", "heads": ["virus"]})
    assert wrong.is_error and "causes" in wrong.content[0].text


def over_stdio(arguments: list[str], talk: Callable[[ClientSession], Awaitable[None]]) -> None:
    async def run() -> None:
        server = StdioServerParameters(command="rana", args=["mcp", *arguments])
        async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
            await talk(session)

    asyncio.run(asyncio.wait_for(run(), 120))


def test_over_standard_input_and_output(learned: pathlib.Path) -> None:
    over_stdio([str(learned)], lambda session: converse(session, READING))


def test_decisions_if_allowed(learned: pathlib.Path, tmp_path: pathlib.Path) -> None:
    journal = tmp_path / "decisions.jsonl"

    async def decide(session: ClientSession) -> None:
        await session.initialize()
        verdict = {"relation": "causes", "head": "virus", "tail": "cell", "verdict": "rejected"}
        result = await session.call_tool("record_decision", verdict)
        assert result.structured_content == {"number": 1}

    over_stdio([str(learned), "--allow-decisions", "--decisions", str(journal)], decide)
    assert json.loads(journal.read_text().splitlines()[1])["tail"] == "cell"


def test_over_streamable_http(learned: pathlib.Path) -> None:
    command = ["rana", "mcp", learned, "--http", "--listen", "127.0.0.1:0", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        text = ""
        while "}" not in text:
            text += server.stdout.readline()

        async def run() -> None:
            url = f"http://{json.loads(text)['address']}/mcp"
            async with streamable_http_client(url) as streams, ClientSession(*streams[:2]) as session:
                await converse(session, READING)

        try:
            asyncio.run(asyncio.wait_for(run(), 120))
        finally:
            server.terminate()
