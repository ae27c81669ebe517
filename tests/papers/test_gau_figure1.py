"""The points of GAU Figure 1 have the probabilities of the proof of Lemma 1 (iii), not those of the lemma."""

import numpy as np
import pytest
from papers.gau_figure1 import DELTA, LAWS, A, B, longest, points
from scipy import stats


@pytest.mark.parametrize("law", LAWS, ids=["skewed", "Gaussian"])
def test_points(law):
    at = points(law)

    def mass(low, high):
        return sum(
            weight * (stats.norm(mean, sigma).cdf(high) - stats.norm(mean, sigma).cdf(low))
            for weight, mean, sigma in law.parts
        )

    assert mass(A, at["b_δ"]) == pytest.approx(DELTA) == mass(at["a_δ"], B)
    assert mass(A, at["a_δ"]) > 0.8 < mass(at["b_δ"], B)  # as the lemma names them
    assert law.density(at["b_1"]) == pytest.approx(law.density(at["b_δ"]))
    assert law.density(at["a_1"]) == pytest.approx(law.density(at["a_δ"]))
    ys = np.linspace(A, B, 9)
    assert np.allclose([mass(-60, y) for y in ys], law.cdf(ys), atol=1e-12)


@pytest.mark.parametrize("law", LAWS, ids=["skewed", "Gaussian"])
def test_the_longest_interval_is_a_tail(law):
    start, end = longest(law)
    at = points(law)
    assert end - start == pytest.approx(max(at["b_δ"] - A, B - at["a_δ"]))
    assert law.cdf(end) - law.cdf(start) == pytest.approx(DELTA)
