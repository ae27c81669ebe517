"""Designing mechanisms for a loss, certified, against qif's linear program, which is not.

Claims: 60 secrets under LDP at least 100 times as fast as qif, both to the same loss; 200 secrets under LDP and under
PML within 5 s, 400 under PML within 60 s, all with a relative gap of at most 1e-6 that is proved in rationals; a
trade-off curve of 50 levels at most 10 times one design. One core.
"""

import time

import numpy as np
import qif

import tightlip as tl

LEVEL = 1.0


def problem(size: int, kind: str) -> tuple[tl.Prior, np.ndarray]:
    rng = np.random.default_rng(size)
    prior = tl.Prior(rng.dirichlet(np.ones(size)))
    places = np.arange(size)
    return prior, rng.random((size, size)) if kind == "random" else np.abs(places[:, None] - places) / size


def timed(call):
    start = time.perf_counter()
    found = call()
    return found, time.perf_counter() - start


def against_qif() -> None:
    for kind in ("random", "absolute"):
        prior, loss = problem(60, kind)
        ours, taken = timed(lambda prior=prior, loss=loss: tl.design(prior, ldp=LEVEL, loss=loss))
        channel, other = timed(
            lambda prior=prior, loss=loss: qif.mechanism.d_privacy.min_loss_given_d(
                prior.floats, 60, lambda one, two: LEVEL * (one != two), lambda x, y: float(loss[x, y])
            )
        )
        reached = float((prior.floats[:, None] * np.asarray(channel) * loss).sum())
        print(
            f"design, 60 secrets, {kind} loss, LDP: {taken:.2f} s, loss {ours.value:.8f}, proved within "
            f"{ours.relative_gap:.1e}; qif {other:.1f} s, loss {reached:.8f}: {other / taken:.0f} times (claim: ≥ 100)"
        )


def sizes() -> None:
    for size, name, most in ((200, "ldp", 5), (200, "pml", 5), (400, "pml", 60)):
        for kind in ("random", "absolute"):
            prior, loss = problem(size, kind)
            found, taken = timed(
                lambda prior=prior, loss=loss, name=name: tl.design(prior, loss=loss, **{name: LEVEL})
            )
            print(
                f"design, {size} secrets, {kind} loss, {name.upper()}: {taken:.2f} s (claim: ≤ {most}), relative gap "
                f"{found.relative_gap:.1e} (claim: ≤ 1e-6)"
            )


def curves() -> None:
    levels = np.linspace(0.1, 4, 50).tolist()
    for size in (5, 10, 20, 60, 200):
        for words, name, beside in (
            ("PML", "pml", {}),
            ("LDP", "ldp", {}),
            ("PMC", "pmc", {}),
            ("PML beside ALIP", "pml", {"alip": (2.0, 5.0)}),
            ("PML of all priors with masses ≥ half the least", "pml", {"min_mass": "half"}),
            ("maximal leakage", "maximal_leakage", {}),
        ):
            prior, loss = problem(size, "random")
            asked = {"loss": loss, **beside}
            if "min_mass" in asked:
                asked["min_mass"] = float(prior.floats.min()) / 2
            _, one = timed(
                lambda prior=prior, asked=asked, name=name: tl.design(prior, **asked, **{name: LEVEL})
            )
            found, all_ = timed(
                lambda prior=prior, asked=asked, name=name: tl.designs.curve(prior, **asked, **{name: levels})
            )
            span = found.points[0].value - found.points[-1].value
            print(
                f"curve, {size} secrets, {words}: {all_:.2f} s for 50 levels, {all_ / one:.1f} times one design "
                f"(claim: ≤ 10), ends at most {found.gap / span:.1e} of the curve's range apart"
            )


def main() -> None:
    tl.design(tl.Prior.uniform(3), ldp=1.0, loss="absolute")
    against_qif()
    sizes()
    curves()


if __name__ == "__main__":
    main()
