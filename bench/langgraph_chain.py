"""Runs a LangGraph chain and prints its milliseconds. Each step runs in an isolated Python process. SQLite keeps a checkpoint per step.

Arguments: the number of steps, the size of a value in the state that no step uses, and the number of runs, of which the last is measured.
"""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from typing import TypedDict

zygote = os.path.join(os.path.dirname(__file__), "walled_zygote.py")
code = 'context["n"] = context.get("n", 0) + 1'


@contextmanager
def walls(folder: str):
    path = os.path.join(folder, "zygote.sock")
    with subprocess.Popen([sys.executable, "-IS", zygote, path], stdout=subprocess.PIPE) as process:
        yield process.stdout.readline, path
        process.kill()


def main() -> None:
    length, size, times = map(int, sys.argv[1:])
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
            chain = graph.compile(checkpointer=saver)
            for thread in range(times):
                config = {"configurable": {"thread_id": str(thread)}, "recursion_limit": length + 2}
                start = time.perf_counter()
                result = chain.invoke({"n": 0, "big": "x" * size}, config)
                elapsed = time.perf_counter() - start
                assert result["n"] == length, result
        print(elapsed * 1000)


main()
