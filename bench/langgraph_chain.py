"""Runs a LangGraph chain: each step forks a Python that computes one value; SQLite keeps a checkpoint per step.

Arguments: steps, and the size of a value that lies in the state and that no step touches.
"""

import json
import os
import sys
import tempfile
import time
from typing import TypedDict

from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph


class State(TypedDict):
    n: int
    big: str


def step(state: State) -> State:
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(writer, json.dumps({"n": state["n"] + 1}).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as answer:
        result = json.load(answer)
    os.waitpid(pid, 0)
    return result


def chain(length: int, saver: SqliteSaver):
    graph = StateGraph(State)
    names = [f"n{i}" for i in range(length)]
    for name in names:
        graph.add_node(name, step)
    for source, target in zip([START, *names], [*names, END]):
        graph.add_edge(source, target)
    return graph.compile(checkpointer=saver)


def main() -> None:
    length, size = int(sys.argv[1]), int(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder, SqliteSaver.from_conn_string(os.path.join(folder, "graph.db")) as saver:
        graph = chain(length, saver)
        for thread in ("warm", "measured"):
            start = time.perf_counter()
            result = graph.invoke({"n": 0, "big": "x" * size}, {"configurable": {"thread_id": thread}, "recursion_limit": length + 2})
            elapsed = time.perf_counter() - start
        assert result["n"] == length, result
        print(elapsed * 1000)


main()
