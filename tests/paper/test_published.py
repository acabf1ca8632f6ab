"""The numbers that the paper prints."""

from voilattice.paper.published import INTERVALS, PRIORS, TABLE_1, TABLE_2, TABLE_3


def test_printed_tables_are_whole():
    assert [round(row.reduction, 2) for row in TABLE_1.values()] == [0.19, 0.46, 0.88, 0.97, 0.97]
    assert all(row.n_subsets == 2**row.n_features for row in TABLE_1.values())
    for (costs, _), rows in TABLE_3.items():
        assert len(rows) == len(INTERVALS[costs]) - 1
    assert TABLE_3["real", "symmetric"][0][2] == (240.59, 243.31)
    assert TABLE_3["synthetic", "asymmetric"][-1][4] == (-18.10, 9.50)
    assert all(abs(sum(prior) - 1) < 1e-9 for prior in PRIORS.values())
    # As printed, the asymmetric costs do not have the expectation of 1 that the text claims.
    p, cost = PRIORS["diabetes"], TABLE_2["asymmetric"]
    assert [round(p[0] * row[0] + p[1] * row[1], 2) for row in cost] == [0.54, 1.87]
