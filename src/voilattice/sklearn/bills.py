"""Bills: what each row bought, in order, and what that cost, as a data frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from voilattice.errors import InputError

__all__ = ["make_bill"]


def make_bill(X: Any, bought: Sequence[tuple[str, ...]], feature_cost: NDArray[np.float64]) -> Any:
    """Return a data frame with a row for each row of X.

    It is a polars frame for a polars frame, with lists in place of tuples, and a pandas frame (with
    the same index) for all else.
    """
    import narwhals as nw

    if nw.dependencies.is_polars_dataframe(X):
        import polars

        columns = {"bought": list(map(list, bought)), "feature_cost": feature_cost}
        return polars.DataFrame(columns, schema_overrides={"bought": polars.List(polars.String)})
    try:
        import pandas
    except ImportError:
        raise InputError("a bill is a data frame of pandas, which is not installed") from None
    index = X.index if nw.dependencies.is_pandas_dataframe(X) else None
    cells = np.empty(len(bought), dtype=object)
    cells[:] = bought
    return pandas.DataFrame({"bought": cells, "feature_cost": feature_cost}, index=index)
