"""Spare processes, forked and isolated in advance, so that the next node does not wait for its fork and isolation."""

import collections
import contextlib
import errno
import os

from . import jail, linux, outcomes
from .allow import doors_of
from .process import Process


# Permanent errors, for example of a system without IPv6.
_NO_SUCH_NETWORK = (errno.EAFNOSUPPORT, errno.EADDRNOTAVAIL, errno.EOPNOTSUPP, errno.EPROTONOSUPPORT)


# From this run of an execution on, a second spare process is ready while the first one is prepared again. An execution
# with fewer runs would rarely use the second process.
_RUNS_BEFORE_A_SECOND_SPARE = 3


class Unable(Exception):
    """Raised if this sandbox can never run the code as requested."""


class Spares:
    """Keeps one spare process for code with the usual network, or two in an execution with many runs. After the run of
    code that may reach only listed hosts, it keeps one more process for the next such code. Between two executions it
    keeps only an init, which has a new network."""

    def __init__(self, zygote, root):
        self.zygote = zygote
        self.walls, first, self.weaker = _strongest_walls(zygote, root)
        self._usual = collections.deque([first])
        self._without_network = self._renewed = None
        self._can_renew = self.walls.user is not None
        self._runs = 0

    def __iter__(self):
        return iter([*self._usual, *filter(None, [self._without_network])])

    @property
    def _wanted(self):
        return 2 if self.walls.isolated and self._runs >= _RUNS_BEFORE_A_SECOND_SPARE else 1

    def prepare_ahead(self):
        """Prepares the second spare process while code runs, so that no later run waits for its isolation."""
        if self._wanted > 1 and not self._usual:
            self._prepare_usual()

    def prepare_after(self, process):
        """Prepares spare processes after a run, and reuses the init of the run's process if possible."""
        init, process.init = process.init, None
        if process.hosts is not None:
            self._prepare_without_network(init, process.relay is not None)
            init = None
        self._prepare_usual(init)

    def put_away(self, process):
        """Cleans up after the last run of an execution. No further run needs a spare process. If code has a user of its
        own, this method keeps the init of the run's process for the next execution. Such code cannot change the limits
        or priorities of the init."""
        init, process.init = process.init, None
        while self._usual:
            self._usual.pop().kill_and_read_output()
        if init and self._can_renew and self._renewed is None and process.hosts is None:
            try:
                init.renew()
                self._renewed = init
            except OSError:
                init.dismiss()
        elif init:
            init.dismiss()

    def end_all(self):
        """Ends every process that may hold data of an execution."""
        for spare in self:
            spare.kill_and_read_output()
        self._usual.clear()
        self._without_network = None
        self._runs = 0
        self.zygote.settle()

    def _prepare_without_network(self, init, has_relay):
        if self._without_network is None:
            self._without_network = Process(self.zygote, self.walls.without_network(), init, has_relay)
        elif init:
            init.dismiss()

    def _drop_dead(self):
        self._usual = collections.deque(spare for spare in self._usual if spare.is_alive())

    def _prepare_usual(self, init=None):
        self._drop_dead()
        if len(self._usual) < self._wanted:
            self._usual.append(Process(self.zygote, self.walls, init))
        elif init:
            init.dismiss()

    def take(self, network):
        """`network` is {"allow": [...]} with the hosts that the run may reach; None if it may reach all hosts."""
        if network is None:
            return self._take_usual()
        if not self.walls.isolated:
            raise Unable(outcomes.NO_WALLS)
        try:
            doors = doors_of(network["allow"], network.get("addresses"))
        except ValueError as error:
            raise Unable(outcomes.no_such_network(error)) from None
        try:
            process = self._take_without_network(has_relay=doors != [])
            if not process.open(doors):
                note(self.walls.root, process.kill_and_read_output())
                raise process.failure
        except OSError as error:
            if linux.is_unsupported(error) or error.errno in _NO_SUCH_NETWORK:
                raise Unable(outcomes.no_network_walls(error)) from None
            raise
        return process

    def _take_usual(self):
        """Takes the spare process. If it is not isolated, replaces it once, which is safe because no code has started
        in it."""
        for _ in range(2):
            self._drop_dead()
            if not self._usual:
                self._usual.append(self._make_usual())
            process = self._usual.popleft()
            if process.is_ready():
                self._runs += 1
                return process
            note(self.walls.root, process.kill_and_read_output())
        raise process.failure

    def _make_usual(self):
        """Makes a process, with the init of an earlier execution if there is one and it could be renewed."""
        init, self._renewed = self._renewed, None
        if init and init.is_busy():
            with contextlib.suppress(OSError):  # The init has died meanwhile.
                return Process(self.zygote, self.walls, init)
        elif init:
            self._can_renew = False
            init.dismiss()
        return Process(self.zygote, self.walls)

    def _take_without_network(self, has_relay):
        process, self._without_network = self._without_network, None
        if process and process.is_alive():
            if (process.relay is not None) == has_relay:
                return process
            process.kill_and_read_output()
        return Process(self.zygote, self.walls.without_network(), has_relay=has_relay)

    def give_back(self, process):
        """Keeps a process that has run no code. Ends a process that may reach only listed hosts, because the next run
        may have another list."""
        if process.hosts is None:
            self._runs -= 1
            self._usual.appendleft(process)
        else:
            process.kill_and_read_output()


def _strongest_walls(zygote, root):
    """Returns the strongest isolation that this system supports, the first process with it, and a sentence about
    missing isolation or None. Raises OSError for a shortage; the next attach then tries again."""
    weaker = None
    for isolated, asks in ((True, True), (True, False), (False, False)):
        try:
            walls = jail.Jail(isolated, root, asks)
            return walls, _first_process(zygote, walls), weaker
        except OSError as error:
            if not linux.is_unsupported(error):
                raise
            weaker = outcomes.weaker_walls(asks, error)
            note(root, weaker)
    raise OSError("the system lets no process be forked")


def _first_process(zygote, walls):
    process = Process(zygote, walls)
    if process.is_ready():
        return process
    note(walls.root, process.kill_and_read_output())
    raise process.failure


def note(root, text):
    """Adds a text to the daemon's log, for people who debug a sandbox."""
    with open(os.path.join(root, "daemon.log"), "a") as log:
        log.write(f"{text}\n")
