"""
Runs the code of workflow nodes inside a sandbox. Needs Python 3.10 and the standard library, nothing else.

A cell of the kernel calls `attach`, which hands an input to the daemon and repeats its answers on stdout. The daemon
owns the claims; it runs each node's code in a process of its own (jail, runner) and keeps the outcome as a file.
"""


def attach(name, root, in_cell=False):
    """What a cell calls, with the name of an input and the folder that all of a sandbox's harness lives in."""
    from . import cell

    cell.attach(name, root, in_cell)
