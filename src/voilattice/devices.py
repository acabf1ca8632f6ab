"""The GPU that kernels run on, through CuPy (the extra ``gpu``).

A `Device` is what `plain_cuda` needs of it: memory, and the kernels of ``plain.cu``. `CudaDevice`
is the real one. The tests run the same source on the host behind the same interface.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from voilattice.errors import InputError, TooLargeError, VoilatticeError

__all__ = ["CudaDevice", "Device", "constants", "find_device", "has_device", "kernel_source"]

THREADS = 256  # of a block
BLOCKS = 4  # that a processor can hold at once: four tiles fit its shared memory
MAX_BLOCKS = 1 << 20  # of a kernel whose threads run over the rest

# What the kernels are written with, on a GPU.
_CUDA = rf"""
#define KERNEL extern "C" __global__
#define TILE_KERNEL KERNEL __launch_bounds__({THREADS}, {BLOCKS})
#define SHARED __shared__
#define SHARED_ROOM(type, name) extern __shared__ type name[]
#define SYNC __syncthreads()
#define LOWEST_BIT(word) (__ffs(word) - 1)
#define UNROLL _Pragma("unroll 4")
"""


class Device(Protocol):
    """Memory, and the kernels of ``plain.cu``. What is put there is known by its handle."""

    @property
    def free_bytes(self) -> int: ...

    @property
    def room_bytes(self) -> int:
        """The memory that the threads of a block share."""

    def put(self, array: NDArray[Any]) -> Any: ...

    def empty(self, n: int, dtype: Any) -> Any: ...

    def address(self, handle: Any) -> int: ...

    def take(self, handle: Any, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the numbers at these places, in 64 bits."""

    def wait(self) -> None:
        """Wait until all kernels are done."""

    def expand(self, table: Any, longer: Any, outer: int, size: int, inner: int) -> None: ...

    def solve_tiles(
        self,
        given: Mapping[str, object],
        room: int,
        table: Any,
        tiles: Any,
        parts: Any,
        value: Any,
    ) -> None:
        """Solve some tiles, with a kernel that was compiled for these constants."""


def kernel_source(given: Mapping[str, object]) -> str:
    """Return the source of the kernels, with its constants."""
    text = (resources.files("voilattice.compiled") / "plain.cu").read_text("utf-8")
    return "".join(f"#define {name} {value}\n" for name, value in given.items()) + text


def constants(
    sizes: tuple[int, ...], n_decisions: int, n_classes: int, dtype: Any
) -> dict[str, object]:
    """Return what the kernels are compiled for."""
    value = {4: "float", 8: "double"}[np.dtype(dtype).itemsize]
    size = sizes[0] if len(set(sizes)) == 1 else 0
    return {"VALUE": value, "CLASSES": n_classes, "DECISIONS": n_decisions, "SIZE": size}


class CudaDevice:
    """The current CUDA device."""

    def __init__(self) -> None:
        import cupy

        self._cupy = cupy
        self._kernels: dict[tuple[object, ...], Any] = {}

    @property
    def free_bytes(self) -> int:
        self._cupy.get_default_memory_pool().free_all_blocks()
        return int(self._cupy.cuda.Device().mem_info[0])

    @property
    def room_bytes(self) -> int:
        return int(self._cupy.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"])

    def put(self, array: NDArray[Any]) -> Any:
        return self._cupy.asarray(array)

    def empty(self, n: int, dtype: Any) -> Any:
        try:
            return self._cupy.empty(n, dtype=dtype)
        except self._cupy.cuda.memory.OutOfMemoryError as error:
            raise TooLargeError(f"the GPU has too little memory left ({error})") from None

    def address(self, handle: Any) -> int:
        return int(handle.data.ptr)

    def take(self, handle: Any, places: NDArray[np.int64]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = handle[self._cupy.asarray(places)].get().astype(np.float64)
        return found

    def wait(self) -> None:
        self._cupy.cuda.get_current_stream().synchronize()

    def expand(self, table: Any, longer: Any, outer: int, size: int, inner: int) -> None:
        n_blocks = min(max(-(-outer * inner // THREADS), 1), MAX_BLOCKS)
        # It is the same whatever the constants are.
        kernel = self._kernel("expand", constants((), 1, 1, np.float64))
        kernel((n_blocks,), (THREADS,), (table, longer, outer, np.int32(size), inner))

    def solve_tiles(
        self,
        given: Mapping[str, object],
        room: int,
        table: Any,
        tiles: Any,
        parts: Any,
        value: Any,
    ) -> None:
        kernel = self._kernel("solve_tiles", given)
        kernel.max_dynamic_shared_size_bytes = max(kernel.max_dynamic_shared_size_bytes, room)
        kernel((len(tiles),), (THREADS,), (table, tiles, parts, value), shared_mem=room)

    def _kernel(self, name: str, given: Mapping[str, object]) -> Any:
        key = (name, *given.values())
        if key not in self._kernels:
            source = _CUDA + kernel_source(given)
            module = self._cupy.RawModule(code=source, options=("--std=c++17",))
            self._kernels[key] = module.get_function(name)
        return self._kernels[key]


@cache
def find_device() -> Device:
    """Return the GPU.

    Raises
    ------
    InputError
        There is none, or CuPy is missing.
    """
    try:
        import cupy
    except ImportError:
        raise InputError(
            "the engine 'cuda' needs CuPy: pip install 'voilattice[gpu]'", "engine"
        ) from None
    try:
        n_devices = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError:
        n_devices = 0
    if not n_devices:
        raise InputError("the engine 'cuda' needs an NVIDIA GPU, and there is none here", "engine")
    return CudaDevice()


def has_device() -> bool:
    """Return whether there is a GPU that the kernels can run on."""
    try:
        find_device()
    except VoilatticeError:
        return False
    return True
