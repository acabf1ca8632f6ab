"""The GPU that kernels run on, through CuPy (the extra ``gpu``).

A `Device` has memory and runs the kernels of ``compiled/*.cu``. `CudaDevice` is the real one. The
tests compile the same sources for the host and run them behind the same interface.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import resources
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from voilattice.errors import InputError, TooLargeError, VoilatticeError
from voilattice.extras import need_extra

__all__ = ["THREADS", "CudaDevice", "Device", "Kernel", "find_device", "has_device"]

THREADS = 256  # of a block: a power of 2
BLOCKS = 4  # of `TILE_KERNEL`, that a processor can hold at once: their shared memory fits
MAX_BLOCKS = 1 << 20  # of a kernel whose threads run over the rest

# What the kernels are written with, on a GPU.
_CUDA = rf"""
#define KERNEL extern "C" __global__
#define TILE_KERNEL KERNEL __launch_bounds__({THREADS}, {BLOCKS})
#define FUNCTION static __device__ __forceinline__
#define SHARED __shared__
#define SHARED_ROOM(type, name) extern __shared__ type name[]
#define SYNC __syncthreads()
#define LOWEST_BIT(word) (__ffs(word) - 1)
#define UNROLL _Pragma("unroll 4")
"""

# On a GPU and on the host.
_SHARED = r"""
typedef long long place;
#define EACH(k, begin, end) \
    for (int k = (begin) + threadIdx.x; k < (end); k += blockDim.x)
"""


class Kernel(NamedTuple):
    """A function of a source file, compiled with some constants."""

    file: str
    name: str
    constants: tuple[tuple[str, object], ...] = ()

    @property
    def source(self) -> str:
        """The text of the file, below its constants and what all kernels share."""
        text = (resources.files("voilattice.compiled") / self.file).read_text("utf-8")
        given = "".join(f"#define {name} {value}\n" for name, value in self.constants)
        return _SHARED + given + text


PROBE = Kernel("probe.cu", "probe")


class Device(Protocol):
    """Memory, and kernels that run there. What is put there is known by its handle."""

    @property
    def free_bytes(self) -> int: ...

    @property
    def room_bytes(self) -> int:
        """The memory that the threads of a block can share."""

    def put(self, array: NDArray[Any]) -> Any: ...

    def get(self, handle: Any) -> NDArray[Any]: ...

    def take(self, handle: Any, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the numbers at these places, in 64 bits."""

    def empty(self, n: int, dtype: Any) -> Any: ...

    def address(self, handle: Any) -> int: ...

    def launch(self, kernel: Kernel, n_blocks: int, room: int, *arguments: Any) -> None:
        """Start a kernel; it runs after those that were started before.

        Parameters
        ----------
        room
            The bytes that the threads of a block share.
        arguments
            Handles, and numbers: integers of 64 bits, and floats.
        """

    def wait(self) -> None:
        """Wait until all kernels are done."""


class CudaDevice:
    """The current CUDA device."""

    def __init__(self) -> None:
        import cupy

        self._cupy = cupy
        self._compiled: dict[Kernel, Any] = {}

    @property
    def free_bytes(self) -> int:
        # What CuPy keeps for later is free too.
        kept = self._cupy.get_default_memory_pool().free_bytes()
        return int(self._cupy.cuda.Device().mem_info[0] + kept)

    @property
    def room_bytes(self) -> int:
        return int(self._cupy.cuda.Device().attributes["MaxSharedMemoryPerBlockOptin"])

    def put(self, array: NDArray[Any]) -> Any:
        with self._in_memory():
            return self._cupy.asarray(array)

    def get(self, handle: Any) -> NDArray[Any]:
        found: NDArray[Any] = handle.get()
        return found

    def take(self, handle: Any, places: NDArray[np.int64]) -> NDArray[np.float64]:
        return self.get(handle[self._cupy.asarray(places)]).astype(np.float64)

    def empty(self, n: int, dtype: Any) -> Any:
        with self._in_memory():
            return self._cupy.empty(n, dtype=dtype)

    @contextmanager
    def _in_memory(self) -> Iterator[None]:
        try:
            yield
        except self._cupy.cuda.memory.OutOfMemoryError as error:
            raise TooLargeError(f"the GPU has too little memory left ({error})") from None

    def address(self, handle: Any) -> int:
        return int(handle.data.ptr)

    def launch(self, kernel: Kernel, n_blocks: int, room: int, *arguments: Any) -> None:
        if kernel not in self._compiled:
            module = self._cupy.RawModule(code=_CUDA + kernel.source, options=("--std=c++17",))
            self._compiled[kernel] = module.get_function(kernel.name)
        function = self._compiled[kernel]
        function.max_dynamic_shared_size_bytes = max(function.max_dynamic_shared_size_bytes, room)
        function((n_blocks,), (THREADS,), arguments, shared_mem=room)

    def wait(self) -> None:
        self._cupy.cuda.get_current_stream().synchronize()


@cache
def find_device() -> Device:
    """Return the GPU.

    Raises
    ------
    MissingPackageError
        CuPy is missing.
    InputError
        There is no GPU that works, or CuPy cannot be loaded.
    """
    need_extra("gpu", "the engine 'cuda'")
    # A driver, a library or the device can be missing, too old, broken or busy: try all of them.
    try:
        device = CudaDevice()
        device.launch(PROBE, 1, 0, answer := device.empty(1, np.float64))
        if device.free_bytes and device.take(answer, np.array([0])) == [42.0]:
            return device
        why = "a first kernel gave a wrong answer"
    except Exception as error:
        why = " ".join(str(error).split())
    raise InputError(f"the engine 'cuda' cannot use an NVIDIA GPU here: {why}")


def has_device() -> bool:
    """Return whether there is a GPU that the kernels can run on."""
    try:
        find_device()
    except VoilatticeError:
        return False
    return True
