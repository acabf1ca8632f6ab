"""Calls of a kernel through its address.

numba optimizes a kernel again in every kernel that calls it, and again in the callers of those. For
a large kernel, each level takes about a second. A kernel that takes a `Pointer` as an argument
compiles without the code behind it. A call through the address takes about 0.1 us more.
"""

from __future__ import annotations

from typing import Any

from numba import types

__all__ = ["Pointer"]


class Pointer(types.WrapperAddressProtocol):  # type: ignore[misc]  # numba has no types
    """A kernel that other kernels take as an argument and call.

    Parameters
    ----------
    kernel
        A function that numba compiles.
    arguments
        What it will be called with, or values of the same types. It is not called with them.
    """

    def __init__(self, kernel: Any, *arguments: Any) -> None:
        of = tuple(map(kernel.typeof_pyval, arguments))
        kernel.compile(of)
        self._compiled = kernel.overloads[of]  # the address is good as long as this lives

    def __wrapper_address__(self) -> int:
        """Return the address, for numba."""
        name = self._compiled.fndesc.llvm_cfunc_wrapper_name
        address: int = self._compiled.library.get_pointer_to_function(name)
        return address

    def signature(self) -> Any:
        """Return the types of the arguments and of the result, for numba."""
        return self._compiled.signature
