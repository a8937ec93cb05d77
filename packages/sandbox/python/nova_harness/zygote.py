"""The process from which inits are forked. It is forked before the daemon receives data of any execution and never
receives any, so the memory that code inherits holds no user data. It prepares once what all runs need, and shares this
with the processes that it forks."""

import functools
import gc
import os
import signal
import socket
import traceback

from . import init, jail, linux, runner, wire


class ZygoteDied(Exception):
    """Raised if the zygote has died, so that no code can start. The daemon then ends, too, and the next attach starts
    another daemon."""


class Zygote:
    """Represents the zygote process in the daemon."""

    def __init__(self, root):
        self._channel, theirs = socket.socketpair()
        if os.fork() == 0:
            _become_zygote(theirs, root)
        theirs.close()
        self._reader = wire.Reader(self._channel, takes_files=False)

    def fork(self, walls, init_socket):
        """Forks an init with this isolation and returns its pid. The init reads from the socket `init_socket`."""
        self._order({"fork": walls.kind}, [init_socket])
        answer = self._answer()
        if "failed" in answer:
            raise linux.as_error(answer)
        return answer["pid"]

    def signal(self, pid, number):
        self._order({"signal": number, "to": pid})

    def end(self, pid):
        """Kills and reaps an init and its whole namespace before the zygote carries out any later order."""
        self._order({"end": pid})

    def settle(self):
        """Waits until all orders are done."""
        self._order({"settle": True})
        self._answer()

    def _order(self, message, files=()):
        try:
            wire.send(self._channel, message, files)
        except OSError as error:
            if files and not isinstance(error, ConnectionError):
                raise  # There are too many descriptors in transit. No part of the message was sent.
            raise ZygoteDied from error

    def _answer(self):
        try:
            answer = self._reader.read()
        except OSError as error:
            raise ZygoteDied from error
        if answer is None:
            raise ZygoteDied
        return answer


def _become_zygote(channel, root):
    """Turns the process into the zygote, and never returns."""
    try:
        jail.die_with_parent()
        jail.close_all_but(channel.fileno())
        _ZygoteLoop(channel, root).serve()
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(0)


class _ZygoteLoop:
    def __init__(self, channel, root):
        self.channel, self.children = channel, set()
        self.walls_of = functools.cache(functools.partial(jail.of_kind, root))
        self.run = runner.Runner()
        gc.freeze()  # The collector skips existing objects, so that the children share their memory.

    def serve(self):
        reader = wire.Reader(self.channel)
        while (order := reader.read()) is not None:
            if "fork" in order:
                init_socket, reader.files = reader.files[0], []
                self._answer(self._fork(tuple(order["fork"]), init_socket))
            elif "signal" in order:
                self._signal(order["to"], order["signal"])
            elif "end" in order:
                self._signal(order["end"], signal.SIGKILL)
                os.waitpid(order["end"], 0)
                self.children.discard(order["end"])
            else:
                self._answer({"settled": True})

    def _answer(self, message):
        wire.send(self.channel, message)

    def _fork(self, kind, init_socket):
        try:
            walls = self.walls_of(kind)
            pid = walls.fork()
        except OSError as error:
            os.close(init_socket)
            return linux.as_message(error)
        if pid == 0:
            self.channel.close()
            init.become_init(walls, self.run, socket.socket(fileno=init_socket))
        os.close(init_socket)
        self.children.add(pid)
        return {"pid": pid}

    def _signal(self, pid, number):
        if pid in self.children:
            os.kill(pid, number)
