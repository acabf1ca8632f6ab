import pytest

from voilattice import VoilatticeError
from voilattice.learning.recipes import (
    NAMED,
    SCORES,
    SEARCHES,
    Recipe,
    find_recipe,
    name_recipe,
)
from voilattice.learning.structure import CHOOSE_SCORE, CHOOSE_SEARCH


@pytest.mark.parametrize(
    ("recipe", "said"),
    [
        ({"forbidden": (("a", "b"),), "required": (("a", "b"),)}, "required: a -> b is forbidden"),
        ({"score": "BIG"}, "score: must be one of BIC, AIC, BDeu, K2, got 'BIG'"),
        ({"discretization": "x"}, "discretization: must be one of mdl, frequency"),
        ({"search": "x"}, "search: must be one of"),
        ({"bins": 1}, "bins: must be 2 to 50, got 1"),
        ({"forbidden": (("a", "a"),)}, "forbidden: an arc from a to itself"),
        (
            {"required": (("a", "c"), ("b", "c")), "max_parents": 1},
            "required: 2 arcs into c, but at most 1 parents",
        ),
        ({"max_parents": 0}, "max_parents: must be at least 1"),
        ({"smoothing": -1}, "smoothing: must be a number >= 0"),
        ({"smoothing": float("nan")}, "smoothing: must be a number >= 0"),
    ],
)
def test_recipes_are_checked(recipe, said):
    with pytest.raises(VoilatticeError, match=said):
        Recipe(**recipe)


def test_a_recipe_is_one_line_of_text():
    assert str(Recipe("frequency", 4, "K2")) == "4 bins, K2, hill-climbing, <= 3 parents"


def test_the_search_knows_every_score_and_every_search_of_a_recipe():
    assert tuple(CHOOSE_SCORE) == SCORES
    assert tuple(CHOOSE_SEARCH) == SEARCHES


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({"structure": "web"}, "structure"),
        ({"parameters": "magic"}, "parameters"),
        ({"parameters": "smooth"}, "parameters"),
        ({"structure": "decision-tree", "parameters": "trained"}, "parameters"),
        ({"structure": "naive", "required": (("a", "b"),)}, "required"),
        ({"structure": "tree", "forbidden": (("a", "b"),)}, "forbidden"),
        ({"strength": -1.0}, "strength"),
        ({"strength": 0.0}, "strength"),
        ({"pull": float("nan")}, "pull"),
    ],
)
def test_what_does_not_go_together_is_refused(options, place):
    with pytest.raises(VoilatticeError, match=f"^{place}: "):
        Recipe(**options)


def test_recipes_have_names():
    assert find_recipe(None) == find_recipe("search") == Recipe()
    assert find_recipe(NAMED["smooth"]) is NAMED["smooth"]
    with pytest.raises(VoilatticeError, match="^recipe: must be a Recipe or one of search, "):
        find_recipe("smoth")


def test_a_recipe_says_what_it_does():
    assert str(NAMED["smooth"]) == "<= 8 bins, tree, smooth"
    assert str(NAMED["decision-tree"]) == "decision tree"
    assert str(NAMED["k-dependence"]) == "mdl, k-dependence, <= 3 parents, counts"


def test_a_recipe_is_called_by_its_name_or_by_what_it_does():
    assert [name_recipe(recipe) for recipe in NAMED.values()] == list(NAMED)
    assert [name_recipe(name) for name in (*NAMED, "auto")] == [*NAMED, "auto"]
    assert name_recipe(Recipe(max_parents=1)) == str(Recipe(max_parents=1))
    for odd in ("soup", ["naive"]):
        with pytest.raises(VoilatticeError, match="no recipe .*; there are auto, search"):
            name_recipe(odd)
