"""Bayesian networks as frozen arrays.

A network over nodes X_1, ..., X_n is a directed acyclic graph with one table for each node,

    P(x_1, ..., x_n) = prod_i P(x_i | parents of x_i).

``tables[i]`` holds P(X_i | parents): one axis for each parent, in the order of ``parents[i]``, and
the node itself on the last axis, so that a *row* is a distribution. Users give nodes and states by
name; the code uses indices. `Network` translates between the two.

A network is checked once, when it is created: names and states are unique, the graph is acyclic,
and every row is non-negative and sums to 1 within `ROW_SUM_TOLERANCE`. The row is then normalised.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from voilattice.errors import InputError, TooLargeError, UnknownNameError
from voilattice.extras import need_extra
from voilattice.wording import count_noun, nearest, quote, round_count

__all__ = [
    "MAX_AXES",
    "MAX_TABLE_CELLS",
    "ROW_SUM_TOLERANCE",
    "Network",
    "Table",
    "check_list",
    "check_n_parents",
    "check_names",
    "check_pairs",
    "check_table",
    "check_text",
    "table_of_rows",
]

Table: TypeAlias = NDArray[np.float64]

# Published networks have few digits: a row of ten states with three digits each can differ from 1
# by this much. A larger difference is probably a mistake and is refused.
ROW_SUM_TOLERANCE = 0.005

# A table of more cells (400 MB) is refused before it is allocated.
MAX_TABLE_CELLS = 50_000_000

MAX_AXES = 64  # of a NumPy array


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Network:
    """A Bayesian network: names, states, parents and tables, one entry for each node.

    The constructors for users are the class methods `from_tables`, `from_joint`, `from_pyagrum`
    and `from_pgmpy`; `voilattice.read_network` reads files.
    """

    names: tuple[str, ...]
    states: tuple[tuple[str, ...], ...]
    parents: tuple[tuple[int, ...], ...]
    tables: tuple[Table, ...]
    is_inline: bool = False  # written in the problem file itself; not part of what a network is
    _index: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        names = check_list(self.names, "a list of texts", "names", str)
        object.__setattr__(self, "names", names)
        for name, what, kind in (
            ("states", "a list of texts", str),
            ("parents", "a list of numbers", numbers.Integral),
        ):
            entries = check_list(getattr(self, name), "a list of lists", name)
            checked = (
                check_list(entry, what, f"{name}[{k}]", kind) for k, entry in enumerate(entries)
            )
            object.__setattr__(self, name, tuple(checked))
        object.__setattr__(self, "tables", check_list(self.tables, "a list of tables", "tables"))
        lengths = {len(self.names), len(self.states), len(self.parents), len(self.tables)}
        if len(lengths) > 1:
            raise InputError("names, states, parents and tables must have the same length")
        check_names("the nodes", self.names)
        for name, states in zip(self.names, self.states, strict=True):
            check_names(f"the states of {name!r}", states)
        object.__setattr__(self, "_index", {name: i for i, name in enumerate(self.names)})
        _check_acyclic(self.names, self.parents)
        tables = tuple(
            check_table(
                self.names[i],
                self.states[i],
                {self.names[p]: self.states[p] for p in self.parents[i]},
                table,
            )
            for i, table in enumerate(self.tables)
        )
        object.__setattr__(self, "tables", tables)

    # -- constructors

    @classmethod
    def from_tables(
        cls,
        states: Mapping[str, Sequence[str]],
        parents: Mapping[str, Sequence[str]],
        tables: Mapping[str, ArrayLike],
    ) -> Network:
        """Make a network from arrays.

        Parameters
        ----------
        states
            The states of every node, in the order of the nodes.
        parents
            The parents of each node; a node without an entry has none.
        tables
            P(node | parents): one axis for each parent, in the order given, and the node last.

        >>> n = Network.from_tables(
        ...     {"rain": ["yes", "no"], "wet": ["yes", "no"]},
        ...     {"wet": ["rain"]},
        ...     {"rain": [0.2, 0.8], "wet": [[0.9, 0.1], [0.05, 0.95]]},
        ... )
        >>> n
        <Network: 2 nodes, 1 arc>
        """
        names = tuple(states)
        for role, given in (("parents", parents), ("tables", tables)):
            for name in given:
                if name not in states:
                    raise UnknownNameError(
                        f"{role} are given for {name!r}, but states are not{nearest(name, names)}"
                    )
        for name in names:
            if name not in tables:
                raise InputError(f"node {name!r} has no table")
            for parent in parents.get(name, ()):
                if parent not in states:
                    raise UnknownNameError(
                        f"node {name!r} has a parent {parent!r}, which is not a node"
                        f"{nearest(parent, names)}"
                    )
        index = {name: i for i, name in enumerate(names)}
        return cls(
            names,
            tuple(tuple(states[name]) for name in names),
            tuple(tuple(index[p] for p in parents.get(name, ())) for name in names),
            tuple(_as_array(f"the table of {name!r}", tables[name]) for name in names),
        )

    @classmethod
    def from_joint(
        cls,
        variables: Sequence[str],
        states: Mapping[str, Sequence[str]],
        probabilities: ArrayLike,
    ) -> Network:
        """Make the complete network of a joint distribution, by the chain rule.

        A joint table states no independence, so every node gets all the nodes before it as parents.

        Parameters
        ----------
        variables, states
            The variables in the order of the table's axes, and the states of each.
        probabilities
            P(variables), as an array of that shape or flat, the last variable varying fastest.
        """
        check_names("the variables", variables)
        for name in states:
            if name not in variables:
                raise UnknownNameError(
                    f"states are given for {name!r}, which is not a variable"
                    f"{nearest(name, variables)}"
                )
        for name in variables:
            if name not in states:
                raise InputError(f"no states are given for {name!r}")
            check_names(f"the states of {name!r}", states[name])
        shape = tuple(len(states[name]) for name in variables)
        if len(shape) > MAX_AXES:
            raise TooLargeError(f"a joint table has at most {MAX_AXES} variables, got {len(shape)}")
        joint = _as_array("the joint table", probabilities)
        if joint.size != (cells := math.prod(shape)):
            raise InputError(
                f"the joint table needs {round_count(cells)} probabilities "
                f"({' x '.join(map(str, shape))}), got {joint.size}"
            )
        joint = _check_distribution("the joint table", joint.reshape(shape))
        tables = []
        for k in range(len(shape)):
            prefix = joint.sum(axis=tuple(range(k + 1, len(shape))))
            mass = prefix.sum(axis=-1, keepdims=True)
            # After an impossible prefix any distribution is fine: it is only multiplied by 0.
            rows = np.full_like(prefix, 1 / shape[k])
            tables.append(np.divide(prefix, mass, out=rows, where=mass > 0))
        return cls(
            tuple(variables),
            tuple(tuple(states[name]) for name in variables),
            tuple(tuple(range(k)) for k in range(len(shape))),
            tuple(tables),
        )

    @classmethod
    def from_pyagrum(cls, bn: Any) -> Network:
        """Make a network from a `pyagrum.BayesNet`."""
        if not all(hasattr(bn, name) for name in ("nodes", "variable", "cpt")):
            raise InputError(f"expected a pyAgrum network, got {quote(bn)}")
        names = tuple(bn.variable(node).name() for node in bn.nodes())
        states, parents, tables = {}, {}, {}
        for name in names:
            states[name] = bn.variable(name).labels()
            cpt = bn.cpt(name)
            # cpt.names is (node, parents ...) and the axes of toarray() are its reverse.
            parents[name] = tuple(reversed(cpt.names[1:]))
            tables[name] = cpt.toarray()
        return cls.from_tables(states, parents, tables)

    @classmethod
    def from_pgmpy(cls, model: Any) -> Network:
        """Make a network from a pgmpy network, or any object with ``nodes`` and ``get_cpds``."""
        if not all(hasattr(model, name) for name in ("nodes", "get_cpds")):
            raise InputError(f"expected a pgmpy network, got {quote(model)}")
        states, parents, tables = {}, {}, {}
        orders: dict[tuple[str, str], list[str]] = {}
        for node in model.nodes():
            cpd = model.get_cpds(node)
            if cpd is None:
                raise InputError(f"node {node!r} of the pgmpy network has no CPD")
            name = str(node)
            states[name] = [str(state) for state in cpd.state_names[node]]
            parents[name] = [str(parent) for parent in cpd.variables[1:]]
            for parent in cpd.variables[1:]:
                orders[name, str(parent)] = [str(state) for state in cpd.state_names[parent]]
            # pgmpy's axes are (node, parents ...).
            tables[name] = np.moveaxis(np.asarray(cpd.values, dtype=np.float64), 0, -1)
        for (name, parent), order in orders.items():
            if order != states[parent]:
                raise InputError(
                    f"the CPD of {name!r} lists the states of {parent!r} as {quote(order)}, "
                    f"but the CPD of {parent!r} as {quote(states[parent])}"
                )
        return cls.from_tables(states, parents, tables)

    def to_pyagrum(self) -> Any:
        """Return this network as a `pyagrum.BayesNet`."""
        need_extra("networks", "to_pyagrum")
        import pyagrum

        bn: Any = pyagrum.BayesNet()
        for name, states in zip(self.names, self.states, strict=True):
            bn.add(pyagrum.LabelizedVariable(name, "", list(states)))
        for child, parents in enumerate(self.parents):
            for parent in parents:
                bn.addArc(parent, child)
        for i, table in enumerate(self.tables):
            cpt = bn.cpt(i)
            axes = [*(self.names[p] for p in self.parents[i]), self.names[i]]
            order = [axes.index(name) for name in reversed(cpt.names)]
            cpt[:] = np.ascontiguousarray(table.transpose(order))
        return bn

    # -- names and indices

    def index(self, name: str) -> int:
        """Return the index of the node called `name`."""
        if name not in self._index:
            raise UnknownNameError(
                f"the network has no node {quote(name)}{nearest(name, self.names)}"
            )
        return self._index[name]

    def state_index(self, node: int, state: str) -> int:
        """Return the index of the state called `state` of a node."""
        try:
            return self.states[node].index(state)
        except ValueError:
            raise UnknownNameError(
                f"{self.names[node]!r} has no state {quote(state)}; its states are "
                f"{', '.join(map(repr, self.states[node]))}"
            ) from None

    @property
    def n_states(self) -> tuple[int, ...]:
        """The number of states of each node."""
        return tuple(map(len, self.states))

    @property
    def n_arcs(self) -> int:
        """The number of arcs."""
        return sum(map(len, self.parents))

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        nodes, arcs = len(self), self.n_arcs
        return f"<Network: {nodes} node{'s'[: nodes != 1]}, {arcs} arc{'s'[: arcs != 1]}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Network):
            return NotImplemented
        return (self.names, self.states, self.parents) == (
            other.names,
            other.states,
            other.parents,
        ) and all(map(np.array_equal, self.tables, other.tables))

    def __reduce__(self) -> tuple[Any, ...]:
        # The constructor also makes the arrays of a copy from another process read-only.
        return Network, (self.names, self.states, self.parents, self.tables, self.is_inline)

    def __hash__(self) -> int:
        # Equal networks have equal graphs; only __eq__ compares the tables.
        return hash((self.names, self.states, self.parents))


def check_table(
    name: str,
    states: Sequence[str],
    parents: Mapping[str, Sequence[str]],
    table: ArrayLike,
) -> Table:
    """Check P(name | parents) and return it as a read-only array with normalised rows.

    Parameters
    ----------
    name, states
        The node and its states.
    parents
        The states of each parent, in the order of the table's axes.
    table
        One axis for each parent and the node last.
    """
    check_n_parents(name, len(parents))
    array = _as_array(f"the table of {name!r}", table)
    shape = (*map(len, parents.values()), len(states))
    if array.shape != shape:
        raise InputError(
            f"the table of {name!r} must have the shape {shape} (parents "
            f"{', '.join(map(repr, parents)) or 'none'}, then the node), got {array.shape}"
        )

    def row_name(row: tuple[int, ...]) -> str:
        given = (
            f"{parent}={labels[k]}"
            for (parent, labels), k in zip(parents.items(), row, strict=True)
        )
        return f"P({name} | {', '.join(given)})" if parents else f"P({name})"

    return _check_rows(array, row_name)


def table_of_rows(
    name: str,
    states: Sequence[str],
    parents: Mapping[str, Sequence[str]],
    rows: Sequence[Sequence[float]],
) -> Table:
    """Check P(name | parents) given by rows, and return it with an axis for each parent.

    Parameters
    ----------
    rows
        One for each combination of the parents' states, the last parent varying fastest.
    """
    check_n_parents(name, len(parents))
    shape = [len(of) for of in parents.values()]
    if len(rows) != (n_rows := math.prod(shape)):
        each = f"combination of the states of {', '.join(map(repr, parents))}"
        why = f"one for each {each}" if parents else f"since {name!r} has no parents"
        raise InputError(f"needs {count_noun(n_rows, 'row')}, {why}; got {len(rows)}")
    for place, row in enumerate(rows):
        if len(row) != len(states):
            raise InputError(
                f"row {place + 1} needs {len(states)} probabilities, one for each state of "
                f"{name!r}; got {len(row)}"
            )
    array = _as_array(f"the table of {name!r}", rows)
    return check_table(name, states, parents, array.reshape(*shape, len(states)))


def check_n_parents(name: str, n: int) -> None:
    """Raise `TooLargeError` if a table would have more axes than an array can have."""
    if n >= MAX_AXES:
        raise TooLargeError(f"{name!r} has {n} parents; at most {MAX_AXES - 1} are supported")


def _check_rows(array: Table, row_name: Callable[[tuple[int, ...]], str]) -> Table:
    slack = ROW_SUM_TOLERANCE + 1e-9  # decimal numbers are rounded to doubles
    bad = ~((array >= 0) & (array <= 1 + slack))
    if bad.any():
        place = tuple(int(k) for k in np.argwhere(bad)[0])
        raise InputError(f"{row_name(place[:-1])} holds {array[place]}, which is not a probability")
    sums = array.sum(axis=-1, keepdims=True)
    bad = np.abs(sums[..., 0] - 1) > slack
    if bad.any():
        row = tuple(int(k) for k in np.argwhere(bad)[0])
        raise InputError(f"{row_name(row)} sums to {sums[row][0]:.6g}, not 1")
    # A row that sums to 1 up to rounding is not changed, so that a network is identical after
    # writing and reading.
    rounding = 4 * np.finfo(np.float64).eps * array.shape[-1]
    array = np.where(np.abs(sums - 1) > rounding, array / sums, array)
    array.setflags(write=False)
    return array


def _check_distribution(what: str, joint: Table) -> Table:
    return _check_rows(joint.reshape(-1), lambda row: what).reshape(joint.shape)


def check_names(what: str, names: Sequence[str]) -> None:
    """Raise `InputError` unless there is at least one name, and all are printable and unique."""
    if not names:
        raise InputError(f"{what}: at least one is needed, found none")
    seen = set()
    for name in names:
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise InputError(f"{what}: a name must be printable text, got {quote(name)}")
        if name in seen:
            raise InputError(f"{what}: the name {quote(name)} appears twice; names must be unique")
        seen.add(name)


def check_list(given: object, what: str, place: str = "", kind: type = object) -> tuple[Any, ...]:
    """Return the entries of a list, or raise `InputError` if it is none or has others than `kind`.

    Text is no list: its letters are not what anybody means.
    """
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InputError(f"must be {what}, got {quote(given)}", place)
    entries = tuple(given)
    for entry in entries:
        if not isinstance(entry, kind):
            raise InputError(f"must be {what}, got {quote(entry)} in it", place)
    return entries


def check_pairs(given: object, what: str, place: str = "") -> tuple[tuple[str, str], ...]:
    """Return a list of pairs of texts, or raise `InputError` if it is none."""
    pairs = []
    for entry in check_list(given, what, place):
        match entry:
            case (str() as first, str() as second):
                pairs.append((first, second))
            case _:
                raise InputError(f"must be {what}, got {quote(entry)} in it", place)
    return tuple(pairs)


def check_text(text: object, place: str = "") -> None:
    """Raise `InputError` unless people can read this: printable text in one line, not empty."""
    if not isinstance(text, str):
        raise InputError(f"must be text, got {quote(text)}", place)
    if not text.strip():
        raise InputError(f"must not be empty, got {quote(text)}", place)
    if not text.isprintable():
        raise InputError(f"must be printable text in one line, got {quote(text)}", place)


def _check_acyclic(names: Sequence[str], parents: Sequence[Sequence[int]]) -> None:
    for child, above in enumerate(parents):
        if not all(0 <= parent < len(names) for parent in above):
            raise InputError(f"node {names[child]!r} has a parent that is not a node: {above}")
        if len(set(above)) != len(above):
            raise InputError(f"node {names[child]!r} has the same parent twice")
    try:
        TopologicalSorter(dict(enumerate(parents))).prepare()
    except CycleError as error:
        cycle = " -> ".join(names[node] for node in error.args[1])
        raise InputError(f"the network has a cycle: {cycle}") from None


def _as_array(what: str, table: ArrayLike) -> Table:
    try:
        # A copy, so that the caller's array does not become read-only.
        array = np.array(table, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what} must be an array of numbers") from None
    if array.size > MAX_TABLE_CELLS:
        raise TooLargeError(
            f"{what} has {array.size} cells; at most {MAX_TABLE_CELLS} are supported"
        )
    return array
