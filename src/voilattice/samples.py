r"""What a sample says of a mean.

The mean of n independent values x has the standard error

    std(x) / √n,

where the variance divides by n - 1. One value says nothing of how much values differ.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["standard_error"]


def standard_error(values: Sequence[float] | NDArray[Any]) -> float | None:
    """Return the standard error of a mean; None: there are fewer than two values.

    >>> standard_error([1.0, 3.0]), standard_error([1.0])
    (1.0, None)
    """
    n = len(values)
    return float(np.std(values, ddof=1)) / math.sqrt(n) if n > 1 else None
