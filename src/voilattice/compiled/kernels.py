"""How kernels are declared, and where numba keeps what it compiled.

Most of the time that a kernel takes to compile is spent in numba, before LLVM. So numba inlines
nothing (``inline="always"``): it would copy a function, and infer its types, again for each call.
LLVM inlines functions later, which costs little. A constant such as 1 has a type of its own, so a
function that is called with 1 and with other numbers is compiled twice: ``np.int64(1)`` avoids it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from numba import config, njit

from voilattice.kernel_cache import own_cache_folder

__all__ = ["copy", "inner", "kernel", "part"]


def kernel(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Declare a function that Python calls.

    numba asks for its folder when a function is declared, so its setting, which all packages of
    the process share, is changed for that moment alone.
    """

    def declare(function: Callable[..., Any]) -> Any:
        given = config.CACHE_DIR
        config.CACHE_DIR = given or own_cache_folder() or ""
        try:
            return njit(cache=True, nogil=True, **options)(function)
        finally:
            config.CACHE_DIR = given

    return declare


# A function that only kernels call: without wrappers for Python it compiles faster.
inner = partial(kernel, no_cpython_wrapper=True, no_cfunc_wrapper=True)
# A function that LLVM inlines in the kernels that call it: it need not pass tuples of arrays.
part = partial(inner, forceinline=True)


@part()
def copy(values: Any, out: Any) -> None:
    """Write the values of an array into another of the same length.

    For ``out[:] = values`` numba compiles an error message too, which takes two seconds.
    """
    for k in range(out.shape[0]):
        out[k] = values[k]
