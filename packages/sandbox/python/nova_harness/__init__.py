"""Runs the code of workflow nodes inside a sandbox. It needs only Python 3.10 and the standard library.

A cell of the kernel calls `attach`, which passes an input to the daemon and repeats the daemon's answers on stdout. The
daemon owns the claims. It runs each node's code in a separate process (jail, runner) and keeps the outcome as a
file."""


def attach(name, root, in_cell=False):
    """Called by a cell, with the name of an input and the harness's folder."""
    from . import cell

    cell.attach(name, root, in_cell)
