"""Runs one cell: statements, then a last expression whose value is the cell's result."""

import ast

_COROUTINE = 0x80  # inspect.CO_COROUTINE
_loop = None


def run(code, name, scope):
    tree = ast.parse(code, name)
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr) and not code.rstrip().endswith(";"):
        last = ast.Expression(tree.body.pop().value)
    if tree.body:
        _evaluate(compile(tree, name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), scope)
    if last is not None:
        return _evaluate(compile(last, name, "eval", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), scope)
    return None


def _evaluate(compiled, scope):
    value = eval(compiled, scope)
    if compiled.co_flags & _COROUTINE:
        return _event_loop().run_until_complete(value)
    return value


def _event_loop():
    """One loop for all cells, so that what one cell starts another can await."""
    global _loop
    if _loop is None:
        import asyncio

        _loop = asyncio.new_event_loop()
        asyncio.set_event_loop(_loop)
    return _loop
