"""Make the figures of the documentation: `python docs/figures/make.py`.

Each figure is drawn twice, for light and for dark pages, on a transparent ground. Colours are
those of Okabe and Ito, which people with colour blindness tell apart; lines also differ in their
dashes and end in their names, so that the figures can be read in grey print. What voilattice draws
itself is shown as it is.
"""

import sys
from itertools import combinations
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

import voilattice as vl
from voilattice.drawing.flow import flow_svg
from voilattice.drawing.policy import policy_svg

HERE = Path(__file__).parent
PAGES = {
    "light": {
        "ink": "#1a1a1a",
        "soft": "#767676",
        "blue": "#0072B2",
        "red": "#D55E00",
        "green": "#007a5a",
    },
    "dark": {
        "ink": "#f0f0f0",
        "soft": "#a0a0a0",
        "blue": "#56B4E9",
        "red": "#E69F00",
        "green": "#2fc79a",
    },
}


def pump():
    """Return the problem of the start page."""
    network = vl.Network.from_tables(
        states={"fault": ["yes", "no"], "noise": ["loud", "quiet"], "pressure": ["low", "good"]},
        parents={"noise": ["fault"], "pressure": ["fault"]},
        tables={
            "fault": [0.2, 0.8],
            "noise": [[0.7, 0.3], [0.2, 0.8]],
            "pressure": [[0.9, 0.1], [0.1, 0.9]],
        },
    )
    costs = {"keep": {"yes": 400, "no": 0}, "replace": {"yes": 100, "no": 100}}
    return vl.Problem.create(network, "fault", {"noise": 2, "pressure": 25}, costs)


def what_a_policy_is(ink):
    """Draw the optimal policy of the pump as a tree; the wider an arm, the more cases take it."""
    policy = vl.build_policy(pump(), "optimal")
    figure, axes = plt.subplots(figsize=(7.2, 3.1))
    figure.subplots_adjust(left=0.01, right=0.99, bottom=0.09, top=0.99)
    places = {}

    def lay_out(node, depth, evidence, row):
        if not hasattr(node, "features"):
            places[evidence] = (depth, row)
            return row + 1
        first = row
        (feature,) = node.features
        for state in policy.problem.states(feature):
            row = lay_out(
                policy.follow({**dict(evidence), feature: state}),
                depth + 1,
                (*evidence, (feature, state)),
                row,
            )
        places[evidence] = (depth, (first + row - 1) / 2)
        return row

    lay_out(policy.root, 0, (), 0)
    shares = {(): 1.0}
    for path in policy.paths():
        for n in range(1, len(path.evidence) + 1):
            key = tuple(path.evidence[:n])
            shares[key] = shares.get(key, 0) + path.probability
    for evidence, (x, y) in places.items():
        if evidence:
            above = places[evidence[:-1]]
            axes.plot(
                [above[0] + 0.17, x + 0.17],
                [-above[1], -y],
                color=ink["soft"],
                lw=1 + 9 * shares[evidence],
                alpha=0.55,
                solid_capstyle="butt",
                zorder=1,
            )
            middle = ((above[0] + x) / 2 + 0.17, -(above[1] + y) / 2)
            axes.text(
                *middle,
                f"{evidence[-1][1]} {shares[evidence]:.0%}",
                ha="center",
                va="center",
                color=ink["ink"],
                fontsize=9.5,
                zorder=3,
                bbox={"fc": ink["ground"], "ec": "none", "pad": 1.2},
            )
        node = policy.follow(dict(evidence))
        asks = hasattr(node, "features")
        price = {"noise": "listen: 2", "pressure": "pressure: 25"}
        text = price[node.features[0]] if asks else f"{node.decision}\nrisk {node.emc:.0f}"
        colour = ink["blue"] if asks else ink["red"]
        axes.text(
            x + 0.17,
            -y,
            text,
            ha="center",
            va="center",
            color=ink["ink"],
            fontsize=10.5,
            zorder=4,
            bbox={
                "boxstyle": "round,pad=0.45" if asks else "square,pad=0.45",
                "fc": ink["ground"],
                "ec": colour,
                "lw": 1.8,
            },
        )
    axes.set_xlim(-0.05, 2.4)
    axes.set_ylim(-2.5, 0.5)
    axes.axis("off")
    figure.text(
        0.02,
        0.02,
        f"round: pay for a look · square: decide · in all {policy.expected_total_cost:.2f} "
        f"on average, {vl.emc(policy.problem):.2f} without a look",
        color=ink["soft"],
        fontsize=9,
    )
    return figure


def cost_against_stakes(ink):
    """Draw what policies cost on asia from low to high stakes."""
    asia = vl.load_problem("builtin:asia")
    stakes = list(range(0, 301, 10))
    names = {
        "none": (ink["soft"], ":", "decide at once"),
        "markov-blanket": (ink["red"], "-.", "buy all that can matter"),
        "greedy-la": (ink["green"], "--", "greedy with look-ahead"),
        "optimal": (ink["blue"], "-", "optimal"),
    }
    rows = vl.compare(asia, stakes, kinds=["symmetric"], policies=list(names), n_jobs=1)
    figure, axes = plt.subplots(figsize=(7.2, 3.6))
    for name, (colour, dashes, label) in names.items():
        costs = [row.expected_total_cost for row in rows if row.policy == name]
        axes.plot(stakes, costs, color=colour, ls=dashes, lw=2.2)
        above = {"greedy-la": 5, "markov-blanket": 17, "optimal": -7}.get(name, 0)  # they are close
        axes.text(304, costs[-1] + above, label, color=colour, va="center", fontsize=10)
    axes.set_xlim(0, 300)
    axes.set_ylim(0, 310)
    axes.set_xlabel("stakes: what deciding at once costs", color=ink["ink"])
    axes.set_ylabel("expected total cost", color=ink["ink"])
    axes.tick_params(colors=ink["ink"])
    for side, spine in axes.spines.items():
        spine.set_visible(side in {"left", "bottom"})
        spine.set_color(ink["soft"])
    figure.subplots_adjust(right=0.74, left=0.1, bottom=0.17, top=0.97)
    return figure


def lattice_of_asia(ink):
    """Draw all 64 sets of asia by size: those of the lattice full, the others empty."""
    asia = vl.load_problem("builtin:asia")
    lattice = vl.Lattice(asia)
    held = set(lattice)
    best = vl.best_set(asia).features
    figure, axes = plt.subplots(figsize=(7.2, 4.1))
    places = {}
    for size in range(len(asia.features) + 1):
        row = [frozenset(s) for s in combinations(asia.features, size)]
        row.sort(key=lambda s: (s not in held, sorted(s)))
        for k, features in enumerate(row):
            places[features] = (k - (len(row) - 1) / 2, size)
    for features in sorted(held, key=sorted):
        for x in sorted(features):
            if features - {x} in held:
                (x1, y1), (x2, y2) = places[features], places[features - {x}]
                axes.plot([x1, x2], [y1, y2], color=ink["soft"], lw=0.6, alpha=0.6, zorder=1)
    for features, (x, y) in places.items():
        full = features in held
        axes.scatter(
            x,
            y,
            s=95,
            marker="o" if full else "X",
            zorder=2,
            facecolor=ink["blue"] if full else "none",
            edgecolor=ink["blue"] if full else ink["soft"],
            linewidth=1.0,
        )
    x, y = places[best]
    axes.scatter(x, y, s=330, marker="o", facecolor="none", edgecolor=ink["red"], linewidth=2.4)
    axes.annotate(
        f"worth most beyond its price:\n{', '.join(sorted(best))}",
        (x, y),
        (-9.9, 5.55),
        color=ink["ink"],
        fontsize=9.5,
        va="center",
        ha="left",
        arrowprops={"arrowstyle": "-", "color": ink["red"], "lw": 1.4},
    )
    for size in range(len(asia.features) + 1):
        n = sum(len(s) == size for s in held)
        axes.text(
            10.3,
            size,
            f"{n} of {sum(len(s) == size for s in places)}",
            color=ink["ink"],
            va="center",
            fontsize=10,
        )
    axes.text(10.3, 6.62, "sets", color=ink["soft"], fontsize=10)
    axes.set_yticks(range(7), [f"{n} tests" if n != 1 else "1 test" for n in range(7)])
    axes.tick_params(colors=ink["ink"], length=0)
    axes.set_xticks([])
    axes.set_xlim(-10.2, 12.4)
    axes.set_ylim(-0.6, 6.9)
    for spine in axes.spines.values():
        spine.set_visible(False)
    figure.subplots_adjust(left=0.1, right=0.99, bottom=0.02, top=0.98)
    return figure


FIGURES = {
    "what-a-policy-is": what_a_policy_is,
    "cost-against-stakes": cost_against_stakes,
    "lattice-of-asia": lattice_of_asia,
}
DRAWINGS = {"policy-of-asia": policy_svg, "flow-of-asia": flow_svg}


def make(folder):
    """Write every figure, light and dark, and what voilattice draws, into a folder."""
    policy = vl.build_policy(vl.load_problem("builtin:asia"), "optimal")
    for name, draw in DRAWINGS.items():
        (Path(folder) / f"{name}.svg").write_text(draw(policy))
    plt.rcParams |= {
        "svg.fonttype": "none",
        "svg.hashsalt": "voilattice",
        "font.family": "sans-serif",
    }
    for name, draw in FIGURES.items():
        for page, ink in PAGES.items():
            ground = "#ffffff" if page == "light" else "#131416"
            figure = draw({**ink, "ground": ground})
            path = Path(folder) / f"{name}-{page}.svg"
            figure.savefig(path, transparent=True, metadata={"Date": None})
            plt.close(figure)
            text = "\n".join(line.rstrip() for line in path.read_text().splitlines()) + "\n"
            path.write_text(text)


if __name__ == "__main__":
    make(sys.argv[1] if len(sys.argv) > 1 else HERE)
