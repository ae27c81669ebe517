"""One valid call of every public function, constructor and method: what property tests put junk into.

A call is a name and its arguments; arguments are made anew for each call, since some are used up.
"""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

import tightlip as tl
from tightlip import convert, histogram, papers
from tightlip.numeric.randomness import RandomSource


@dataclass(frozen=True)
class Call:
    """A callable and valid arguments for it, by name."""

    name: str
    target: Callable[..., Any]
    arguments: dict[str, Any]

    def __call__(self, **changed: Any) -> Any:
        """Call it with some arguments changed."""
        given = {**self.arguments, **changed}
        named = inspect.signature(self.target).parameters
        spread = [name for name, one in named.items() if one.kind is one.VAR_POSITIONAL]
        options = [name for name, one in named.items() if one.kind is one.VAR_KEYWORD]
        plain = {name: value for name, value in given.items() if name not in (*spread, *options)}
        return self.target(*[given[name] for name in spread], **plain)


CHANNEL = tl.Channel([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["ill", "well"], outputs=["+", "-"])
PLANNED: dict[str, Any] = dict.fromkeys(
    ("bins", "prefix", "top", "bottom", "mapping", "suppress", "where", "missing", "jointly")
)
DESIGNED: dict[str, Any] = dict.fromkeys(
    (
        "pml",
        "pmc",
        "lip",
        "alip",
        "maximal_leakage",
        "envelope",
        "min_mass",
        "priors",
        "secret",
        "gain",
        "utility",
        "outputs",
    )
)
FLOATS = tl.Channel([[0.75, 0.25], [0.25, 0.75]])
PRIOR = tl.Prior(["2/5", "3/5"], labels=["ill", "well"])
OTHER = tl.Prior(["1/2", "1/2"], labels=["ill", "well"])
BALL = tl.robust.PriorBall(PRIOR, "1/10")
SECRET = tl.noise.UniformSecret(0, 1)
RELEASE = tl.noise.AdditiveNoise(SECRET, tl.noise.Laplace(1))
NORMAL = tl.noise.AdditiveNoise(SECRET, tl.noise.Gaussian(1))
STUDY = tl.planning.Study([PRIOR, OTHER], loss="zero-one")
SPACE = histogram.HistogramSpace(6, 3)
SUPPORT = papers.MisspecifiedSupport(6, 3, 1, 1)
ROWS = {"sex": ["F", "M", "M", "M"], "ill": ["yes", "no", "yes", "no"]}
SHARE = histogram.Share({"ill": "yes"})
POLICY = tl.Policy("ill", ["sex"])


def functions() -> dict[str, dict[str, Any]]:
    """Valid arguments of the public functions, by name."""
    both = {"channel": CHANNEL, "prior": PRIOR}
    one = {"channel": CHANNEL}
    pml = {"n": 2, "epsilon": 0.5, "min_mass": "1/4"}
    delta = {**both, "delta": "1/10"}
    noise = {"release": RELEASE}
    two = {"first": CHANNEL, "second": CHANNEL}
    side = {**both, "side": CHANNEL, "given": "+"}
    return {
        "alip": both,
        "measures.alpha_loss_leakage": {**both, "alpha": 2, "function": CHANNEL},
        "statistic.attribute_privacy": {**one, "secret": ["a", "b"], "priors": [PRIOR]},
        "robust.allowed_zeros": pml,
        "contraction.block_kernel": {**pml, "q": 1},
        "contraction.chi_squared_contraction": both,
        "envelopes.compose": {"channels": [CHANNEL, CHANNEL]},
        "envelopes.composition_bound": {"leakages": [0.1, 0.2], "delta": "1/10"},
        "measures.conditional_maximal_leakage": {**two, "prior": PRIOR},
        "measures.conditional_pmc": side,
        "measures.conditional_pml": side,
        "measures.cost_leakage": {**both, "cost": [[0, 1], [1, 0]]},
        "measures.density_pmc": {"pieces": [(0, 1, lambda x: 1, lambda x: 1 + x)]},
        "measures.density_pml": {"pieces": [(0, 1, lambda x: 1, lambda x: 1 + x)]},
        "noise.cumulant": {"data": SECRET, "t": 1, "tolerance": 1e-3},
        "contraction.divergence": {"p": PRIOR, "q": OTHER, "kind": "tv"},
        "contraction.divergence_bound": {"divergence": "kl", **pml, "tv": "1/2", "gamma": "exact"},
        "design": {"prior": PRIOR, **DESIGNED, "ldp": 0.5, "loss": "hamming"},
        "designs.curve": {"prior": PRIOR, "ldp": [0.5, 1], "pml": 0.3, "loss": "hamming", "outputs": None},
        "designs.smallest_budget": {
            "prior": PRIOR,
            "guarantee": "ldp",
            "loss_at_most": "1/4",
            "loss": "hamming",
            "pml": None,
        },
        "designs.compare": {
            "mechanisms": {"mine": CHANNEL},
            "prior": PRIOR,
            "ldp": 2,
            "loss": [[0, 1], [1, 0]],
        },
        "dobrushin": one,
        "contraction.dobrushin_bound": pml,
        "contraction.level_bounds": pml,
        "contraction.measure": {**both, "min_mass": "1/4", "gammas": [2]},
        "envelopes.dp_epsilon": delta,
        "measures.dp_tail_bound": {"epsilon": 0.5, "delta": "1/100", "k": 2},
        "contraction.e_gamma_contraction": {**one, "gamma": 2},
        "planning.effective_samples": {"privacy": tl.planning.LocalPrivacy(1), "secrets": 2, "samples": 10},
        "envelope": {**delta, "adversary": "k-ary", "symbols": 2, "gap": 1e-9},
        "envelopes.bounds": delta,
        "envelopes.comparisons": delta,
        "noise.comparisons": {**noise, "delta": "1/10", "adversary": "any"},
        "statistic.comparisons": {**one, "secret": ["a", "b"], "work": 10},
        "envelope_curve": {
            **both,
            "deltas": ["1/10", "1/5"],
            "adversary": "deterministic",
            "symbols": 2,
            "gap": 1e-9,
        },
        "planning.estimate_frequencies": {
            "counts": [60, 40],
            **one,
            "released": None,
            "reference": PRIOR,
        },
        "planning.estimation_variance": both,
        "event_leakage": {**both, "event": {"+"}},
        "failure_probability": {**both, "epsilon": 0.2},
        "measures.function_cost_leakage": {**both, "function": CHANNEL},
        "measures.function_gain_leakage": {**both, "function": CHANNEL},
        "measures.gain_leakage": {**both, "gain": [[1, 0], [0, 1]]},
        "noise.gaussian_pmc_bounds": {"bound": 1, "sigma": 2, "y": 0.5, "ends_in_support": True},
        "noise.gaussian_pmc_tail": {"bound": 1, "sigma": 2, "beta": 3},
        "measures.guesswork_leakage": both,
        "contraction.hellinger_contraction": both,
        "information_density": both,
        "noise.interval_leakage": {**noise, "a": 0, "b": 1, "tolerance": 1e-3},
        "contraction.kl_contraction": both,
        "noise.laplace_mean_pmc": {"data": SECRET, "n": 3, "scale": 1, "tolerance": 1e-3},
        "ldp": both,
        "contraction.ldp_contraction_bound": {"divergence": "kl", "epsilon": 0.5},
        "contraction.ldp_kl_bound": {"epsilon": 0.5, "tv": "1/4", "min_mass": "1/4"},
        "statistic.ldp_to_statistic": {"mu": 0.5, "secrets": 2},
        "statistic.ldp_to_statistic_cost": {"mu": 0.5, "secrets": 2},
        "leakage_capacity": {**one, "min_mass": "1/4"},
        "contraction.likelihood_ratio_bound": {**pml, "gamma": "exact"},
        "lip": both,
        "log_of": {"ratio": 2},
        "measures.lp_loss_leakage": {**both, "values": [0, 1], "p": 3, "function": None},
        "measures.maximal_cost_leakage": both,
        "maximal_leakage": both,
        "measures.maximal_realizable_cost": both,
        "measure": both,
        "noise.envelope": {**noise, "delta": "1/10", "adversary": "any", "cells": 20},
        "noise.information_density": {**noise, "x": "1/2", "y": 1, "tolerance": 1e-3},
        "noise.posterior_moments": {"release": NORMAL, "y": 1, "tolerance": 1e-2},
        "noise.posterior_variance_bound": {"release": NORMAL},
        "noise.pmc": {**noise, "y": 1, "tolerance": 1e-3},
        "noise.pmc_supremum": {**noise, "tolerance": 1e-3},
        "noise.pml": {**noise, "y": 1, "tolerance": 1e-3},
        "statistic.noise_resolved_leakage": {"noise": tl.noise.Laplace(1), "low": 0, "high": 1},
        "statistic.noise_leakage": {"noise": tl.noise.Laplace(1), "regions": {"a": (0, 1), "b": (1, 2)}},
        "contraction.optimal_kernel": pml,
        "statistic.outcome_to_statistic_ldp": {"outcome": 0.5, "least": 0.5},
        "planning.plan_table": {
            "study": STUDY,
            "levels": [tl.planning.LocalPrivacy(1)],
            "samples": 5,
            "target_risk": "1/10",
        },
        "pmc": both,
        "measures.pmc_composition": {**two, "prior": PRIOR},
        "measures.pmc_cost_witness": {**both, "outcome": "+"},
        "measures.pmc_function_witness": {**both, "outcome": "+"},
        "pml": both,
        "measures.pml_composition": {**two, "prior": PRIOR},
        "measures.pml_function_witness": {**both, "outcome": "+"},
        "measures.pml_gain_witness": both,
        "measures.posterior": {**both, "outcome": "+"},
        "envelopes.power": {**one, "uses": 2},
        "envelopes.repeat": {"mechanisms": [CHANNEL, CHANNEL], "uses": [2, 3], "points": 64},
        "measures.privacy_profile": {**both, "epsilon": 0.5},
        "measures.probabilistic_dp_tail": {**both, "epsilon": 0.5},
        "measures.psi1": {**both, "epsilon": 0.5},
        "measures.psi2": {**both, "epsilon": 0.5},
        "envelopes.randomized_response": {"prior": PRIOR, "epsilon": 1.0, "delta": "1/10"},
        "planning.risk_lower_bound": {"study": STUDY, "privacy": CHANNEL, "samples": 3},
        "robust.envelope": {
            **one,
            "prior_set": BALL,
            "delta": "1/10",
            "gap": 0.5,
            "cells": 5,
            "tries": 2,
        },
        "robust.maximal_leakage": {**one, "prior_set": BALL},
        "robust.pmc": {**one, "prior_set": BALL},
        "planning.samples_for_standard_error": {**both, "standard_error": "1/10"},
        "planning.samples_needed": {
            "study": STUDY,
            "privacy": tl.planning.LocalPrivacy(1),
            "target_risk": "1/10",
        },
        "statistic.composition": {**two, "secret": ["a", "b"], "work": 10},
        "statistic.cost_leakage": {**one, "secret": ["a", "b"], "gap": 0.0, "work": 10},
        "statistic.ldp": {**one, "secret": ["a", "b"]},
        "statistic_maximal_leakage": {**one, "secret": ["a", "b"], "gap": 0.0, "work": 10},
        "statistic.maximal_leakage_of_map": {"outputs": ["x", "y"], "secret": ["a", "b"]},
        "statistic.min_entropy_leakage": {**both, "secret": ["a", "b"]},
        "statistic.outcome_leakage": {**one, "secret": ["a", "b"]},
        "noise.unbounded_attack": {
            "release": tl.noise.AdditiveNoise(tl.noise.GaussianSecret(1), tl.noise.Gaussian(1)),
            "delta": "1/10",
            "symbols": 3,
        },
        "contraction.valid_counts": pml,
    }


def classes() -> dict[str, dict[str, Any]]:
    """Valid arguments of the constructors that users call."""
    from scipy.stats import beta

    return {
        "noise.AdditiveNoise": {"secret": SECRET, "noise": tl.noise.Laplace(1)},
        "measures.Alip": {"lower": tl.Nats(1.0), "upper": tl.Nats(1.0)},
        "measures.Bound": {"lower": 0.1, "upper": 0.2, "method": "m"},
        "noise.BoundedSecret": {"low": 0, "high": 1},
        "Channel": {"rows": [[0.5, 0.5], [0.25, 0.75]], "inputs": ["a", "b"], "outputs": [0, 1]},
        "contraction.Coefficient": {"lower": 0.1, "upper": 0.2, "method": "m"},
        "noise.DiscreteSecret": {"points": [0, 1], "masses": [0.5, 0.5]},
        "noise.DistributionSecret": {"distribution": beta(2, 5), "cdf_error": 1e-9},
        "contraction.Divergence": {"lower": 0.1, "upper": 0.2, "fraction": None},
        "noise.Gaussian": {"sigma": 1},
        "noise.GaussianMixture": {"weights": [0.5, 0.5], "means": [0, 1], "deviations": [1, 2]},
        "noise.GaussianSecret": {"sigma": 1, "mean": 0},
        "planning.KnownChannel": {"channel": CHANNEL},
        "noise.Laplace": {"scale": 1},
        "planning.LocalPrivacy": {"epsilon": 1},
        "Nats": {"value": 1.0, "ratio": None, "rounding": "up"},
        "planning.PmlPrivacy": {"epsilon": 0.5, "min_mass": "1/4"},
        "Prior": {"masses": [0.5, 0.5], "labels": ["a", "b"]},
        "robust.PriorBall": {"center": PRIOR, "radius": "1/10"},
        "robust.PriorList": {"priors": [PRIOR, OTHER]},
        "robust.PriorPolytope": {"rows": [[1, 0]], "bounds": ["1/2"], "min_mass": 0, "labels": ["a", "b"]},
        "PriorSet": {"secrets": 2, "min_mass": "1/4"},
        "Probability": {"value": 0.5, "fraction": None, "rounding": "up"},
        "planning.Study": {
            "hypotheses": [PRIOR, OTHER],
            "parameters": [0, 1],
            "loss": "absolute",
            "names": ["a", "b"],
        },
        "noise.UniformSecret": {"low": 0, "high": 1},
    }


def methods() -> Iterator[Call]:
    """The methods of models and results, and constructors by another name."""
    measured, adversary = tl.pml(CHANNEL, PRIOR), tl.measures.gain_leakage(CHANNEL, PRIOR, [[1, 0], [0, 1]])
    estimate = tl.planning.estimate_frequencies([60, 40], CHANNEL)
    repeated = tl.envelopes.repeat(CHANNEL, 3, points=64)
    known, privacy = tl.planning.KnownChannel(CHANNEL), tl.planning.LocalPrivacy(1)
    yield from (
        Call(
            "Channel.from_counts",
            tl.Channel.from_counts,
            {
                "counts": [[3, 1], [1, 3]],
                "inputs": ["a", "b"],
                "outputs": [0, 1],
                "prior": None,
                "exact": False,
            },
        ),
        Call(
            "Channel.draw",
            CHANNEL.draw,
            {"values": ["ill", "well"], "randomness": RandomSource(seed_for_tests=1)},
        ),
        Call(
            "estimate_frequencies of releases",
            lambda released: tl.planning.estimate_frequencies(channel=CHANNEL, released=released),
            {"released": ["+", "-"]},
        ),
        Call("Channel.post_process", CHANNEL.post_process, {"other": FLOATS}),
        Call("Channel.product", CHANNEL.product, {"other": FLOATS}),
        Call("Channel.adaptive_product", CHANNEL.adaptive_product, {"second": {"+": CHANNEL, "-": FLOATS}}),
        Call("Channel.reduce", FLOATS.reduce, {"tolerance": 1e-12}),
        Call("Channel.restricted_to", CHANNEL.restricted_to, {"prior": PRIOR}),
        Call("Channel.from_json", tl.Channel.from_json, {"text": CHANNEL.to_json()}),
        Call("Channel.from_dict", tl.Channel.from_dict, {"record": CHANNEL.to_dict()}),
        Call("Prior.uniform", tl.Prior.uniform, {"secrets": 2}),
        Call(
            "Prior.from_counts", tl.Prior.from_counts, {"counts": [3, 1], "labels": ["a", "b"], "exact": True}
        ),
        Call("Prior.product", PRIOR.product, {"other": PRIOR}),
        Call("Prior.mass", PRIOR.mass, {"label": "ill"}),
        Call("Prior.from_json", tl.Prior.from_json, {"text": PRIOR.to_json()}),
        Call("Prior.with_adjustment", PRIOR.with_adjustment, {"adjustment": 0.0}),
        Call("PriorSet.from_json", tl.PriorSet.from_json, {"text": tl.PriorSet(2, "1/4").to_json()}),
        Call("Nats.of_ratio", tl.Nats.of_ratio, {"ratio": Fraction(2), "rounding": "up"}),
        Call("Probability.of", tl.Probability.of, {"fraction": Fraction(1, 3), "rounding": "up"}),
        Call("Coefficient.known", tl.contraction.Coefficient.known, {"value": Fraction(1, 3), "method": "m"}),
        Call("PointwiseLeakage.value_of", measured.value_of, {"outcome": "+"}),
        Call("PointwiseLeakage.to_dict", measured.to_dict, {"unit": "nats"}),
        Call("PointwiseLeakage.chart", measured.chart, {"unit": "nats"}),
        Call("PointwiseLeakage.exact_ratio_of", measured.exact_ratio_of, {"outcome": "+"}),
        Call("PointwiseLeakage.secret_of", measured.secret_of, {"outcome": "+"}),
        Call("PointwiseLeakage.prior_of", measured.prior_of, {"secret": "ill"}),
        Call("PointwiseLeakage.tail", measured.tail, {"t": 0.1}),
        Call("PointwiseLeakage.cdf", measured.cdf, {"t": 0.1}),
        Call("PointwiseLeakage.quantile", measured.quantile, {"delta": "1/10"}),
        Call("PointwiseLeakage.left_quantile", measured.left_quantile, {"delta": "1/10"}),
        Call("AdversaryLeakage.value_of", adversary.value_of, {"outcome": "+"}),
        Call(
            "InformationDensity.at",
            tl.information_density(CHANNEL, PRIOR).at,
            {"secret": "ill", "outcome": "+"},
        ),
        Call(
            "CompositionBound.of",
            tl.measures.pml_composition(CHANNEL, CHANNEL, PRIOR).of,
            {"first_outcome": "+", "second_outcome": "+"},
        ),
        Call(
            "FrequencyEstimate.intervals",
            estimate.intervals,
            {"level": "0.9", "simultaneous": True, "method": "proved"},
        ),
        Call("KnownChannel.contraction", known.contraction, {"secrets": 2}),
        Call("KnownChannel.separation", known.separation, {"one": PRIOR, "two": OTHER}),
        Call("LocalPrivacy.contraction", privacy.contraction, {"secrets": 2}),
        Call("LocalPrivacy.separation", privacy.separation, {"one": PRIOR, "two": OTHER}),
        Call("PmlPrivacy.contraction", tl.planning.PmlPrivacy(0.5, "1/4").contraction, {"secrets": 2}),
        Call(
            "PmlPrivacy.separation",
            tl.planning.PmlPrivacy(0.5, "1/4").separation,
            {"one": PRIOR, "two": OTHER},
        ),
        Call("RiskBound.by", tl.planning.risk_lower_bound(STUDY, CHANNEL, 3).by, {"method": "fano"}),
        Call("Repetition.epsilon", repeated.epsilon, {"delta": "1/100"}),
        Call("Repetition.delta", repeated.delta, {"epsilon": 0.5}),
        Call("Repetition.envelope", repeated.envelope, {"prior": PRIOR, "delta": "1/10"}),
        Call(
            "Repetition.failure_probability", repeated.failure_probability, {"prior": PRIOR, "epsilon": 0.2}
        ),
        Call("Summary.beyond", tl.measure(CHANNEL, PRIOR).beyond, {"epsilon": 0.1}),
    )


def files() -> Iterator[Call]:
    """Saving and loading."""
    folder = Path(tempfile.mkdtemp())
    CHANNEL.save(folder / "channel.json", prior=PRIOR)
    found = tl.envelope(CHANNEL, PRIOR, "1/10")
    yield from (
        Call("load", tl.load, {"path": str(folder / "channel.json")}),
        Call(
            "Channel.save",
            CHANNEL.save,
            {"path": folder / "again.json", "prior": PRIOR, "secret": ["a", "b"], "force": True},
        ),
        Call("Envelope.save", found.save, {"path": folder / "proof.json", "force": True}),
        Call("Certificate.save", found.certificate.save, {"path": folder / "proof.json", "force": True}),
        Call(
            "Certificate.from_json", type(found.certificate).from_json, {"text": found.certificate.to_json()}
        ),
    )


def tables() -> Iterator[Call]:
    """Policies, recodings and tables."""
    folder = Path(tempfile.mkdtemp())
    table, levels = folder / "people.csv", folder / "levels.csv"
    table.write_text("sex,ill\nF,yes\nM,no\nM,yes\nM,no\n")
    levels.write_text("a,b\nc,b\n")
    (folder / "policy.toml").write_text('secret = "ill"\nrelease = ["sex"]\n')
    mechanism = tl.Channel([["3/4", "1/4"], ["1/4", "3/4"]], inputs=["f", "m"], outputs=["f", "m"])
    mechanism.save(folder / "mechanism.json", force=True)
    opened = tl.open_table(table)
    counts = tl.table.count_cells(opened, POLICY)
    found = tl.audit(table, "ill", ["sex"])
    safe = tl.protect(table, "ill", ["sex"], "factor 5/4")
    (folder / "study.ledger").unlink(missing_ok=True)
    ledger = tl.Ledger.create(folder / "study.ledger", table, "ill", "2x")
    yield from (
        Call("open_table", tl.open_table, {"source": str(table), "table": None}),
        Call(
            "table.count_cells",
            tl.table.count_cells,
            {"table": opened, "policy": POLICY, "max_cells": 100, "max_groups": 1000, "check": True},
        ),
        Call(
            "auditing.classical_measures",
            tl.auditing.classical_measures,
            {
                "tally": found.deciding.counted.tally,
                "order": [1, 0],
                "population": tl.auditing.PopulationSizes([6, 2], [0.5, 0.5]),
                "scale": 1,
            },
        ),
        Call(
            "auditing.PopulationSizes",
            tl.auditing.PopulationSizes,
            {"smallest": [6.0, 2.0], "risk": [0.5, 0.5]},
        ),
        Call(
            "PopulationSizes.of",
            tl.auditing.PopulationSizes.of,
            {"tally": found.deciding.counted.tally, "population": [6, 2], "column": [0, 1]},
        ),
        Call("auditing.cell_risks", tl.auditing.cell_risks, {"counts": counts, "policy": POLICY}),
        Call(
            "table.write_risks",
            tl.table.write_risks,
            {
                "table": opened,
                "policy": POLICY,
                "risks": tl.auditing.cell_risks(counts, POLICY),
                "path": folder / "risks.csv",
                "id_column": None,
                "force": True,
                "max_cells": 100,
            },
        ),
        Call(
            "audit",
            tl.audit,
            {
                "table": str(table),
                "secret": "ill",
                "release": ["sex"],
                "delta": "1/10",
                "budget": 5,
                "sample": None,
                "policy": None,
                "statistic": None,
                "min_count": None,
                "seconds": 5.0,
                "skip": ["remedies"],
                **PLANNED,
                "randomize": None,
                "weight": None,
                "not_secret": None,
                "code_seed": 1,
                "on_stage": lambda stage: None,
            },
        ),
        Call("compare", tl.compare, {"plans": {"one": found, "two": POLICY}, "table": str(table)}),
        Call("Audit.words", found.words, {"show_values": False, "unit": "nats"}),
        Call("Audit.to_dict", found.to_dict, {"show_values": False, "unit": "nats"}),
        Call("Audit.chart", found.chart, {"view": "ill", "picture": "tail", "unit": "nats"}),
        Call(
            "release",
            tl.release,
            {
                "table": str(table),
                "policy": POLICY,
                "path": folder / "published.csv",
                "keep": (),
                "with_secret": False,
                "receipt": folder / "published.json",
                "out_table": None,
                "force": True,
                "seed_for_tests": None,
            },
        ),
        Call(
            "protect",
            tl.protect,
            {
                "table": str(table),
                "secret": "ill",
                "release": ["sex"],
                "budget": "factor 5/4",
                "policy": None,
                "levels": None,
                "weights": {"sex": 1},
                "randomised": False,
                "pmc": "3x",
                "delta": "1/10",
                "min_count": 1,
                "gap": 0.01,
                "seconds": 1.0,
                "earlier": {},
                "on_progress": lambda stage, kept, bound: None,
                **PLANNED,
                "not_secret": None,
            },
        ),
        Call("Ledger", tl.Ledger, {"path": folder / "study.ledger", "write": False}),
        Call("Ledger.what_if", ledger.what_if, {"table": str(table), "plans": [POLICY]}),
        Call("Ledger.split", ledger.split, {"table": str(table), "parts": 2}),
        Call("Ledger.words", ledger.words, {"unit": "nats"}),
        Call("Protection.words", safe.words, {"show_values": False, "unit": "nats"}),
        Call("Protection.to_dict", safe.to_dict, {"show_values": False, "unit": "nats"}),
        Call("Protection.chart", safe.chart, {"picture": "factors", "curve": None, "unit": "nats"}),
        Call("Protection.trade_off", safe.trade_off, {"budgets": ["3x"], "seconds": 1.0}),
        Call(
            "protection.trade_off",
            tl.protection.trade_off,
            {"found": safe, "budgets": ["3x"], "seconds": 1.0, "gap": 0.01},
        ),
        Call("table.policy_toml", tl.table.policy_toml, {"policy": POLICY, "folder": "."}),
        Call(
            "Policy",
            tl.Policy,
            {
                "secret": "ill",
                "release": ["sex"],
                "min_count": 2,
                "statistic": (),
                "local": None,
                "scales": {"sex": "nominal"},
                "secrets": None,
                "not_secret": ["N"],
                "where": ["age >= 18"],
                "missing": {"age": ["-9"]},
                "budget": "3x",
                "delta": "0.01",
                "jointly": True,
                "weight": "w",
            },
        ),
        Call(
            "table.Secret",
            tl.table.Secret,
            {"column": "ill", "recoding": tl.table.Keep(), "values": ["yes"], "not_secret": ["N"]},
        ),
        Call("table.Condition", tl.table.Condition, {"column": "age", "operator": ">=", "values": ("18",)}),
        Call("Condition.read", tl.table.Condition.read, {"where": "age >= 18"}),
        Call(
            "Policy.from_toml",
            tl.Policy.from_toml,
            {"path": folder / "policy.toml", "mappings_anywhere": True},
        ),
        Call("Policy.from_flags", tl.Policy.from_flags, {"secret": ["ill"], "release": ["sex"]}),
        Call(
            "table.Released",
            tl.table.Released,
            {"column": "sex", "recoding": tl.table.Keep(), "mechanism": None},
        ),
        Call("table.RandomizedResponse", tl.table.RandomizedResponse, {"epsilon": 1}),
        Call("table.ChannelMechanism", tl.table.ChannelMechanism, {"kernel": mechanism}),
        Call(
            "ChannelMechanism.from_file",
            tl.table.ChannelMechanism.from_file,
            {"path": folder / "mechanism.json", "sha256": None},
        ),
        Call("table.Bins", tl.table.Bins, {"width": 10, "origin": 0}),
        Call("table.Bins of edges", tl.table.Bins, {"edges": [0, 1, 2]}),
        Call("table.TopCode", tl.table.TopCode, {"at": 90}),
        Call("table.Chain", tl.table.Chain, {"steps": [tl.table.TopCode(90), tl.table.BottomCode(10)]}),
        Call("table.BottomCode", tl.table.BottomCode, {"at": 10}),
        Call("table.Prefix", tl.table.Prefix, {"length": 2}),
        Call(
            "table.Mapping",
            tl.table.Mapping,
            {"groups": {"a": "b"}, "otherwise": None, "hierarchy": None, "level": 1},
        ),
        Call(
            "Mapping.from_file", tl.table.Mapping.from_file, {"path": levels, "level": 1, "otherwise": None}
        ),
        Call("auditing.SampleMode", tl.auditing.SampleMode, {"confidence": 0.95, "cells_complete": False}),
    )


def conversions() -> Iterator[Call]:
    """`tightlip.convert`."""
    for start in ("ldp", "pml", "pmc", "lip"):
        for end in ("ldp", "pml", "pmc", "lip", "alip"):
            if start != end:
                name = f"{start}_to_{end}"
                yield Call(f"convert.{name}", getattr(convert, name), {"epsilon": 0.1, "p_min": "1/4"})
    for end in ("ldp", "pml", "pmc", "lip"):
        name = f"alip_to_{end}"
        yield Call(f"convert.{name}", getattr(convert, name), {"lower": 0.1, "upper": 0.1, "p_min": "1/4"})
    yield Call("convert.compare", convert.compare, {"epsilon_pml": 0.1, "epsilon_pmc": 0.1, "p_min": "1/4"})
    yield Call("convert.implied", convert.implied, {"guarantee": "pml", "epsilon": 0.1, "p_min": "1/4"})
    yield Call("convert.region", convert.region, {"p_min": "1/4", "points": 5, "largest_pmc": 2.0})


def mechanisms() -> Iterator[Call]:
    """`tightlip.mechanism`."""
    arguments: dict[str, dict[str, Any]] = {
        "binary_randomized_response": {"epsilon": 1, "labels": ["a", "b"]},
        "constant": {"secrets": 2, "outcome": "nothing"},
        "identity": {"secrets": 2},
        "pml_extremal": {"prior": PRIOR, "epsilon": 0.1},
        "randomized_response": {"secrets": 3, "epsilon": 1},
    }
    for name, given in arguments.items():
        yield Call(f"mechanism.{name}", getattr(tl.mechanism, name), given)


def histograms() -> Iterator[Call]:
    """`tightlip.histogram`."""
    domain = histogram.tabulate(ROWS).domain
    grouped = histogram.Share({"ill": "yes"}).on(domain, 4)
    arguments: dict[str, dict[str, Any]] = {
        "Except": {"values": "F"},
        "HistogramSpace": {"total": 6, "cells": 3},
        "MaxLMechanism": {"space": SPACE, "released": [[6, 0, 0], [0, 6, 0], [0, 0, 6]]},
        "Quantization": {"space": SPACE, "bin_size": 2, "ordered": True, "secrets": None},
        "RandomizedResponse": {"space": SPACE, "epsilon": 0.5, "secrets": None},
        "Ratio": {"part": {"ill": "yes"}, "whole": {"sex": "F"}, "resolution": "1/4"},
        "RatioDifference": {
            "part": {"ill": "yes"},
            "first": {"sex": "F"},
            "second": {"sex": "M"},
            "resolution": "1/4",
        },
        "Share": {"category": {"ill": "yes"}},
        "draw_given_secret": {
            "secret": grouped,
            "values": range(3),
            "random": RandomSource(seed_for_tests=1),
        },
        "greedy_maxl": {"space": SPACE, "candidates": [[6, 0, 0], [0, 6, 0]]},
        "plan_release": {
            "table": ROWS,
            "columns": ["sex", "ill"],
            "secret": SHARE,
            "mechanism": "qm",
            "bin_size": 2,
            "ordered": True,
            "feasible": None,
            "support": None,
            "seed_for_tests": 1,
        },
        "release_histogram": {"table": ROWS, "columns": ["sex", "ill"], "secret": SHARE, "bin_size": 2},
        "released_points_bound": {"space": SPACE, "points": 2},
        "tabulate": {"table": ROWS, "columns": ["sex"], "feasible": None},
        "uniform_histogram": {"total": 6, "cells": 3, "random": RandomSource(seed_for_tests=1)},
        "uniform_in_groups": {
            "group_of_cell": np.array([0, 1, 1], dtype=np.int8),
            "group_counts": [2, 4],
            "random": RandomSource(seed_for_tests=1),
        },
    }
    for name, given in arguments.items():
        yield Call(f"histogram.{name}", getattr(histogram, name), given)
    yield Call(
        "HistogramRelease.write_csv",
        histogram.release_histogram(ROWS, None, SHARE, bin_size=2).write_csv,
        {"path": Path(tempfile.mkdtemp()) / "x.csv", "force": True, "spreadsheet_safe": False},
    )


def reproductions() -> Iterator[Call]:
    """`tightlip.papers`."""
    known = {"support": SUPPORT}
    response = {**known, "epsilon": 0.5}
    arguments: dict[str, dict[str, Any]] = {
        "MisspecifiedSupport": {"total": 6, "known": 3, "spurious": 1, "missing": 1},
        "appendix_i": {**known, "bins": 1, "secrets": 7},
        "asymptotic_ratio": {"cells": 3, "bin_size": 2},
        "compare": {"space": SPACE, "bin_size": 2},
        "matched_response": {"space": SPACE, "bin_size": 2},
        "misspecified_quantization_distortion": {**known, "bin_size": 2},
        "misspecified_quantization_privacy": {**known, "bin_size": 2},
        "misspecified_response_distortion": response,
        "misspecified_response_privacy": response,
        "proposition3_quantization": known,
        "proposition3_response": response,
        "proposition4_quantization": {**known, "bin_size": 2},
        "proposition4_response": response,
        "proposition5_quantization": {**known, "bin_size": 2},
        "proposition5_response": response,
        "proposition8": {"pieces": [(0, 1, {"a": lambda y: 1, "b": lambda y: 1 + y})]},
        "quantization_wins": {"space": SPACE, "bin_size": 2},
        "check_zero_count": {"channel": CHANNEL, "epsilon": 0.5, "min_mass": "1/4"},
        "dob_example_1": {"epsilon": 0.1, "min_mass": "1/4"},
        "duchi_bound": {"epsilon": 0.5, "tv": "1/2"},
        "pmc_countable": {"size": 3},
        "theorem2_function": {"channel": CHANNEL, "prior": PRIOR, "cost": [[0, 1], [1, 0]], "outcome": "+"},
        "theorem5_bound": {"prior": PRIOR, "epsilon": 1.0, "delta": "1/10"},
        "statistic_leakage_range": {"channel": CHANNEL, "secret": ["a", "b"]},
    }
    for name, given in arguments.items():
        yield Call(f"papers.{name}", getattr(papers, name), given)


@cache
def calls() -> tuple[Call, ...]:
    """Every call."""
    plain = [Call(name, _named(name), given) for name, given in (functions() | classes()).items()]
    return (
        *plain,
        *methods(),
        *files(),
        *tables(),
        *conversions(),
        *mechanisms(),
        *histograms(),
        *reproductions(),
    )


def _named(name: str) -> Callable[..., Any]:
    """Find `measures.psi1` or `pml` in the package."""
    return attrgetter(name)(tl)
