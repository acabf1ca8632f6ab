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
from voilattice.devices import find_device, has_device
from voilattice.engines import use_engine

HOST = r"""
typedef struct { int x; } index;
static index threadIdx = {0}, blockDim = {1};
index blockIdx, gridDim;
double *the_room;
#define KERNEL
#define TILE_KERNEL
#define FUNCTION static
#define SHARED static
#define SHARED_ROOM(type, name) type *name = the_room
#define SYNC
#define LOWEST_BIT(word) __builtin_ctz(word)
#define UNROLL
"""


@functools.cache
def compiled(source):
    """The kernels of a file as a library of the host; the compiler must not complain."""
    with tempfile.TemporaryDirectory() as folder:
        file, library = Path(folder) / "kernels.c", Path(folder) / "kernels.so"
        file.write_text(HOST + source)
        subprocess.run(
            ["gcc", "-std=c11", "-O1", "-Wall", "-Wno-unused-variable", "-Werror", "-shared",
             "-fPIC", "-ffp-contract=off", str(file), "-o", str(library)],
            check=True,
        )  # fmt: skip
        return ctypes.CDLL(str(library))


class HostDevice:
    """A device that is this machine; what is put there is an array."""

    def __init__(self, free_bytes=1 << 40, room_bytes=1 << 20):
        self.free_bytes, self.room_bytes = free_bytes, room_bytes
        self.launched = []  # the names of kernels

    def put(self, array):
        return np.array(array, copy=True)

    def get(self, handle):
        return handle

    def take(self, handle, places):
        return handle[places].astype(np.float64)

    def empty(self, n, dtype):
        return np.full(n, np.nan, dtype)

    def address(self, handle):
        return handle.ctypes.data

    def launch(self, kernel, n_blocks, room, *arguments):
        self.launched.append(kernel.name)
        library = compiled(kernel.source)
        space = np.full(room // 8 + 1, np.nan)  # what nobody wrote must not be read
        ctypes.c_void_p.in_dll(library, "the_room").value = space.ctypes.data
        block, function = ctypes.c_int.in_dll(library, "blockIdx"), library[kernel.name]
        ctypes.c_int.in_dll(library, "gridDim").value = n_blocks
        given = [_passed(argument) for argument in arguments]
        for block.value in range(n_blocks):
            function(*given)

    def wait(self):
        pass


def _passed(argument):
    if isinstance(argument, np.ndarray):
        return ctypes.c_void_p(argument.ctypes.data)
    kind = ctypes.c_double if isinstance(argument, float) else ctypes.c_longlong
    return kind(argument)


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
