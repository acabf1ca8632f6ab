"""The kernels of the GPU, compiled for the host: a block has one thread, and blocks run in turn."""

import ctypes
import functools
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from voilattice import devices
from voilattice.devices import constants, find_device, has_device, kernel_source
from voilattice.engines import use_engine

HOST = r"""
#include <stdlib.h>
typedef struct { int x; } index;
static index threadIdx = {0}, blockDim = {1}, blockIdx = {0}, gridDim = {1};
static double *the_room;
#define KERNEL
#define TILE_KERNEL
#define SHARED static
#define SHARED_ROOM(type, name) type *name = the_room
#define SYNC
#define LOWEST_BIT(word) __builtin_ctz(word)
#define UNROLL
"""
ALL_TILES = r"""
void solve_all(int n, long room, const Table *t, const place *tiles, const double *p, VALUE *v)
{
    the_room = malloc(room);
    for (long k = 0; k < room / (long)sizeof(double); k++) the_room[k] = 0.0 / 0.0;
    for (blockIdx.x = 0; blockIdx.x < n; blockIdx.x++) solve_tiles(t, tiles, p, v);
    blockIdx.x = 0;
    free(the_room);
}
"""


@functools.cache
def compiled(given):
    """The kernels as a library of the host; the compiler must not complain."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "plain.c", Path(folder) / "plain.so"
        source.write_text(HOST + kernel_source(dict(given)) + ALL_TILES)
        subprocess.run(
            ["gcc", "-std=c11", "-O1", "-Wall", "-Wno-unused-variable", "-Werror", "-shared",
             "-fPIC", "-ffp-contract=off", str(source), "-o", str(library)],
            check=True,
        )  # fmt: skip
        return ctypes.CDLL(str(library))


class HostDevice:
    """A device that is this machine; what is put there is an array."""

    def __init__(self, free_bytes=1 << 40, room_bytes=1 << 20):
        self.free_bytes, self.room_bytes = free_bytes, room_bytes

    def put(self, array):
        return np.array(array, copy=True)

    def empty(self, n, dtype):
        return np.full(n, np.nan, dtype)

    def address(self, handle):
        return handle.ctypes.data

    def take(self, handle, places):
        return handle[places].astype(np.float64)

    def wait(self):
        pass

    def expand(self, table, longer, outer, size, inner):
        kernels = compiled(tuple(constants((), 1, 1, np.float64).items()))
        counts = ctypes.c_longlong(outer), size, ctypes.c_longlong(inner)
        kernels.expand(_pointer(table), _pointer(longer), *counts)

    def solve_tiles(self, given, room, table, tiles, parts, value):
        pointers = map(_pointer, (table, tiles, parts, value))
        kernels = compiled(tuple(given.items()))
        kernels.solve_all(len(tiles), ctypes.c_long(room), *pointers)


def any_device():
    """The GPU if there is one, else this machine."""
    return find_device() if has_device() else HostDevice()


@contextmanager
def on_a_device(device=None):
    """Solve plain tables on a device, with a GPU or without."""
    with pytest.MonkeyPatch.context() as patch:
        found = device or any_device()
        patch.setattr(devices, "find_device", lambda: found)
        with use_engine("cuda"):
            yield patch


def _pointer(array):
    return ctypes.c_void_p(array.ctypes.data)
