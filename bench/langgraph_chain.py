"""Runs a LangGraph chain and prints its milliseconds. Each step runs in an isolated Python process. SQLite keeps a
checkpoint per step.

Arguments: the number of steps, the size of a value in the state that no step uses, and the number of runs. Only the
last run is measured. If the fourth argument is the URL of a model, a ReAct loop with this model runs in place of the
chain. The loop makes as many tool calls as the chain would have steps.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import contextmanager
from typing import TypedDict

zygote = os.path.join(os.path.dirname(__file__), "walled_zygote.py")
code = 'context["n"] = context.get("n", 0) + 1'


@contextmanager
def walls(folder: str):
    path = os.path.join(folder, "zygote.sock")
    with subprocess.Popen([sys.executable, "-IS", zygote, path, folder], stdout=subprocess.PIPE) as process:
        yield process.stdout.readline, path
        process.kill()


def react_loop(step, url: str, saver):
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, ToolMessage
    from langchain_core.outputs import ChatGeneration, ChatResult
    from langchain_core.tools import tool
    from langgraph.prebuilt import create_react_agent

    @tool
    def work(n: int) -> int:
        """Adds one to a number."""
        return step({"n": n})["n"]

    class Model(BaseChatModel):
        _llm_type = "scripted"

        def bind_tools(self, tools, **_):
            return self

        def _generate(self, messages, **_):
            asked = [{"role": "user", "content": messages[0].content}]
            asked += [{"type": "function_call_output"} for one in messages if isinstance(one, ToolMessage)]
            body = json.dumps({"model": "gpt-4o", "input": asked}).encode()
            headers = {"content-type": "application/json", "x-client-request-id": "text.1"}
            with urllib.request.urlopen(urllib.request.Request(url + "/responses", body, headers)) as answer:
                [said] = json.load(answer)["output"]
            if said["type"] != "function_call":
                return ChatResult(generations=[ChatGeneration(message=AIMessage("done"))])
            call = {"name": said["name"], "args": json.loads(said["arguments"]), "id": said["call_id"]}
            return ChatResult(generations=[ChatGeneration(message=AIMessage("", tool_calls=[call]))])

    return create_react_agent(Model(), [work], checkpointer=saver)


def main() -> None:
    length, size, times = map(int, sys.argv[1:4])
    with tempfile.TemporaryDirectory() as folder, walls(folder) as (until_listening, path):
        from langgraph.checkpoint.sqlite import SqliteSaver
        from langgraph.graph import END, START, StateGraph

        class State(TypedDict):
            n: int
            big: str

        def step(state: State) -> State:
            with socket.socket(socket.AF_UNIX) as zygote:
                zygote.connect(path)
                zygote.sendall(json.dumps({"code": code, "context": {"n": state["n"]}}).encode() + b"\n")
                with zygote.makefile() as stream:
                    return json.loads(stream.read())

        graph = StateGraph(State)
        names = [f"n{i}" for i in range(length)]
        for name in names:
            graph.add_node(name, step)
        for source, target in zip([START, *names], [*names, END]):
            graph.add_edge(source, target)
        until_listening()
        with SqliteSaver.from_conn_string(os.path.join(folder, "graph.db")) as saver:
            is_agent = len(sys.argv) > 4
            chain = react_loop(step, sys.argv[4], saver) if is_agent else graph.compile(checkpointer=saver)
            first = {"messages": [("user", f"Make {length} calls, 1 at once.")]} if is_agent else {"n": 0, "big": "x" * size}
            for thread in range(times):
                config = {"configurable": {"thread_id": str(thread)}, "recursion_limit": 2 * length + 2}
                start = time.perf_counter()
                result = chain.invoke(first, config)
                elapsed = time.perf_counter() - start
                done = len(result["messages"]) // 2 - 1 if is_agent else result["n"]
                assert done == length, result
        print(elapsed * 1000)


main()
