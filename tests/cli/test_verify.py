"""Every sentence that `tightlip verify` can print, of every kind of certificate, against what is known to be true."""

import json
import re
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import tightlip as tl
from exact_oracle import at_least_log, at_most_log
from statistic_oracle import largest_total, smallest_total
from tightlip.certificate import envelope, ordered, randomized_response, statistic_map
from tightlip.certificate.base import Certificate, kind_digest
from tightlip.certificate.envelope import EnvelopeCertificate, UpperProof
from tightlip.certificate.statistic import COST, MAXIMAL
from tightlip.cli.main import main
from tightlip.envelopes.response import channel_envelope
from tightlip.robust import certificate as robust
from tightlip.statistic.maximal import cost_leakage as statistic_cost_leakage
from tightlip.statistic.maximal import maximal_leakage_of_map as statistic_maximal_leakage_of_map

TINY = Fraction(1, 10**30)
RARE = Fraction(1, 10)
PRIOR = tl.Prior(["1/10", "9/10"])
IDENTITY = tl.Channel([[1, 0], [0, 1]])
SPLIT = tl.Channel([[1, 0, 0], [0, "1/2", "1/2"]])  # the identity, with the second outcome told in two ways

_NUMBER = r"(\S*[0-9])"
_ENVELOPE = re.compile(
    rf"Valid: with probability at least {_NUMBER} some (post-processing|monotone function of the outcome) leaks "
    rf"{_NUMBER} nats, and none leaks more than {_NUMBER} nats with probability {_NUMBER} or more\.\n"
)
_STATISTIC = re.compile(
    r"Valid: the (statistic maximal leakage|statistic cost leakage), how much easier the release makes it to "
    r"(guess the secret|name a secret that is not the true one), is at least (\S+)(?: nats)? under some prior and "
    r"at most (\S+)(?: nats)? under every prior\.\n"
)


def run(capsys, monkeypatch, certificate, folder, *options):
    monkeypatch.setenv("COLUMNS", "1000")
    path = folder / "proof.json"
    path.write_text(certificate if isinstance(certificate, str) else certificate.to_json())
    status = main(["verify", str(path), *options])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def any_ratio(delta):
    """e^ε(δ) of the identity and this prior: an outcome is mixed with the other until its lift is 1/δ."""
    return min(max(1 / delta, 1 / (1 - RARE)), 1 / RARE)


def interval_ratio(delta):
    """The rare outcome alone has lift 10, both have 10/9 at least, and everything at once 1."""
    return 1 / RARE if delta <= RARE else 1 / (1 - RARE)


DELTAS = [
    RARE,
    RARE + TINY,
    RARE - TINY,
    Fraction("0.1000000001"),
    Fraction(0.1),
    Fraction(np.nextafter(0.1, 0)),
    Fraction(1, 8) + TINY,
    Fraction(1, 3),
    Fraction(10**40 + 1, 3 * 10**40),
    Fraction(1, 10**9) + TINY,
    Fraction(9, 10),
    Fraction(1),
]
ENVELOPES = {
    "envelope": (lambda delta: tl.envelope(SPLIT, PRIOR, delta).certificate, "post-processing", any_ratio),
    "randomised response": (
        lambda delta: channel_envelope(IDENTITY, PRIOR, delta).certificate,
        "post-processing",
        any_ratio,
    ),
    "ordered": (
        lambda delta: tl.envelope(IDENTITY, PRIOR, delta, adversary="ordered").certificate,
        "monotone function of the outcome",
        interval_ratio,
    ),
}
CLASSES = {
    "envelope": envelope.EnvelopeCertificate,
    "randomised response": randomized_response.RandomizedResponseCertificate,
    "ordered": ordered.OrderedCertificate,
}


@pytest.mark.parametrize("delta", DELTAS, ids=str)
@pytest.mark.parametrize("kind", ENVELOPES)
def test_what_is_said_of_an_envelope_is_true(capsys, monkeypatch, tmp_path, kind, delta):
    make, whose, truth = ENVELOPES[kind]
    certificate = make(delta)
    assert type(certificate) is CLASSES[kind]
    status, out, _ = run(capsys, monkeypatch, certificate, tmp_path)
    assert status == 0
    below, said, lower, upper, above = _ENVELOPE.fullmatch(out).groups()
    assert said == whose
    assert Fraction(below) <= delta <= Fraction(above) <= delta * Fraction(1_000_011, 1_000_000)
    assert at_most_log(float(lower), truth(Fraction(below)))
    assert at_least_log(float(upper), truth(min(Fraction(above), Fraction(1))))

    record = json.loads(run(capsys, monkeypatch, certificate, tmp_path, "--json")[1])
    assert record["kind"] == certificate.kind
    assert Fraction(record["delta_exact"]) == delta
    assert Fraction(repr(record["delta"])) >= delta
    assert at_most_log(record["lower"], truth(Fraction(record["delta_exact"])))
    assert at_least_log(record["upper"], truth(min(Fraction(repr(record["delta"])), Fraction(1))))


def test_a_proof_without_probability_is_about_every_post_processing(capsys, monkeypatch, tmp_path):
    found = tl.envelope(SPLIT, PRIOR, RARE).certificate
    every = replace(found, upper=UpperProof(Fraction(10), Fraction(0), None))
    status, out, _ = run(capsys, monkeypatch, every, tmp_path)
    assert (status, out) == (0, "Valid: no post-processing ever leaks more than 2.30259 nats.\n")
    less = replace(every, upper=UpperProof(10 - TINY, Fraction(0), None))
    status, out, err = run(capsys, monkeypatch, less, tmp_path)
    assert (status, out) == (1, "")
    assert "upper end fails: outcome 0 has lift 10 above 9.999999999999999999999999999999" in err


def test_a_failure_that_is_certain_has_an_upper_end_too(capsys, monkeypatch, tmp_path):
    """Every outcome tells the secret, so log 2 is leaked with probability 1, and no more ever."""
    found = tl.failure_probability(IDENTITY, HALF, 0.5)
    assert found.upper == 1
    found.verify()
    assert found.certificate.upper.mass == 1
    status, out, _ = run(capsys, monkeypatch, found.certificate, tmp_path)
    assert status == 0
    below, _, lower, upper, above = _ENVELOPE.fullmatch(out).groups()
    assert Fraction(below) <= 1 <= Fraction(above)
    assert at_most_log(float(lower), Fraction(2))
    assert at_least_log(float(upper), Fraction(2))


_ROBUST = re.compile(
    rf"Valid: with probability at least {_NUMBER} some post-processing leaks {_NUMBER} nats under some prior of the "
    rf"set, and none leaks more than {_NUMBER} nats with probability {_NUMBER} or more under any prior of the set\.\n"
)


@pytest.mark.parametrize("delta", ["1/10", "1/3", "1"])
def test_what_is_said_of_a_set_of_priors_is_true(capsys, monkeypatch, tmp_path, delta):
    """The identity of two secrets: a mass m of the rarer one gives e^ε = min(max(1/δ, 1/(1 − m)), 1/m)."""
    prior_set, wanted = tl.PriorSet(min_mass="1/20"), Fraction(delta)
    found = tl.robust.envelope(IDENTITY, prior_set, delta)
    masses = {Fraction(1, 20), Fraction(1, 2), min(max(wanted, Fraction(1, 20)), Fraction(1, 2))}
    truth = max(min(max(1 / wanted, 1 / (1 - mass)), 1 / mass) for mass in masses)
    status, out, _ = run(capsys, monkeypatch, found.certificate, tmp_path)
    assert status == 0
    below, lower, upper, above = _ROBUST.fullmatch(out).groups()
    assert Fraction(below) <= wanted <= Fraction(above)
    assert at_most_log(float(lower), truth)
    assert at_least_log(float(upper), truth)
    record = json.loads(run(capsys, monkeypatch, found.certificate, tmp_path, "--json")[1])
    assert (record["kind"], record["adversary"], record["unit"]) == ("robust envelope", "any", "nats")
    assert at_most_log(record["lower"], truth)
    assert at_least_log(record["upper"], truth)
    channel = tmp_path / "channel.json"
    IDENTITY.save(channel)
    assert run(capsys, monkeypatch, found.certificate, tmp_path, "--channel", str(channel))[0] == 0
    SPLIT.save(channel, force=True)
    status, _, err = run(capsys, monkeypatch, found.certificate, tmp_path, "--channel", str(channel))
    assert (status, "is about another channel" in err) == (1, True)


_OVER_A_SET = re.compile(
    r"Valid: (the .*) under any prior of the set is at least (\S+)(?: nats)? and at most (\S+)(?: nats)?\.\n"
)
OVER_SETS = {  # of a coin and masses of 1/10 at least: (3/4)/(3/10), (7/10)/(1/4) and 3/4 + 3/4
    "the leakage capacity, the largest PML of any outcome": (
        lambda channel, prior_set: tl.leakage_capacity(channel, prior_set=prior_set),
        Fraction(5, 2),
    ),
    "the largest PMC of any outcome": (tl.robust.pmc, Fraction(14, 5)),
    "the largest maximal leakage": (tl.robust.maximal_leakage, Fraction(3, 2)),
}


@pytest.mark.parametrize("sentence", OVER_SETS)
def test_what_is_said_of_a_leakage_over_a_set_is_true(capsys, monkeypatch, tmp_path, sentence):
    make, truth = OVER_SETS[sentence]
    proof = make(COIN, tl.PriorSet(min_mass="1/10")).certificate
    status, out, _ = run(capsys, monkeypatch, proof, tmp_path)
    assert status == 0
    said, lower, upper = _OVER_A_SET.fullmatch(out).groups()
    assert said == sentence
    assert at_most_log(float(lower), truth)
    assert at_least_log(float(upper), truth)
    record = json.loads(run(capsys, monkeypatch, proof, tmp_path, "--json")[1])
    assert (record["kind"], record["unit"]) == (proof.kind, "nats")
    assert at_most_log(record["lower"], truth)
    assert at_least_log(record["upper"], truth)
    channel = tmp_path / "channel.json"
    COIN.save(channel, prior=HALF)
    assert run(capsys, monkeypatch, proof, tmp_path, "--channel", str(channel))[0] == 0
    COIN.save(channel, prior=tl.Prior(["1/20", "19/20"]), force=True)
    assert run(capsys, monkeypatch, proof, tmp_path, "--channel", str(channel))[0] == 1
    IDENTITY.save(channel, force=True)
    assert run(capsys, monkeypatch, proof, tmp_path, "--channel", str(channel))[0] == 1


def test_an_infinite_leakage_over_a_set_is_said_to_be_so(capsys, monkeypatch, tmp_path):
    for found in (
        tl.leakage_capacity(IDENTITY, min_mass=0),
        tl.robust.pmc(IDENTITY, tl.PriorSet(min_mass="1/4")),
    ):
        status, out, _ = run(capsys, monkeypatch, found.certificate, tmp_path)
        assert (status, _OVER_A_SET.fullmatch(out).groups()[1:]) == (0, ("infinite", "infinite"))


_CONTRACTION = re.compile(rf"Valid: (the .*) is at least {_NUMBER} and at most {_NUMBER}\.\n")
COIN = tl.Channel([["3/4", "1/4"], ["1/4", "3/4"]])
HALF = tl.Prior.uniform(2)
CONTRACTIONS = {  # of a coin: its Dobrushin coefficient, Σ(a − γb)₊, and the square of the first
    "the Dobrushin coefficient, the contraction of total variation,": (lambda: tl.dobrushin(COIN), "1/2"),
    "the contraction coefficient of E_γ at γ = 1.5": (
        lambda: tl.contraction.e_gamma_contraction(COIN, "3/2"),
        "3/8",
    ),
    "the contraction coefficient of χ² over all inputs": (
        lambda: tl.contraction.chi_squared_contraction(COIN),
        "1/4",
    ),
    "the contraction coefficient of KL over all inputs": (
        lambda: tl.contraction.kl_contraction(COIN),
        "1/4",
    ),
    "the contraction coefficient of Hellinger over all inputs": (
        lambda: tl.contraction.hellinger_contraction(COIN),
        "1/4",
    ),
    "the contraction coefficient of χ² towards the prior": (
        lambda: tl.contraction.chi_squared_contraction(COIN, HALF),
        "1/4",
    ),
    "the contraction coefficient of KL towards the prior": (
        lambda: tl.contraction.kl_contraction(COIN, HALF),
        "1/4",
    ),
    "the contraction coefficient of Hellinger towards the prior": (
        lambda: tl.contraction.hellinger_contraction(COIN, HALF),
        "1/4",
    ),
}


@pytest.mark.parametrize("sentence", CONTRACTIONS)
def test_what_is_said_of_a_contraction_is_true(capsys, monkeypatch, tmp_path, sentence):
    make, truth = CONTRACTIONS[sentence]
    proof = make().certificate
    status, out, _ = run(capsys, monkeypatch, proof, tmp_path)
    assert status == 0
    said, lower, upper = _CONTRACTION.fullmatch(out).groups()
    assert said == sentence
    assert Fraction(lower) <= Fraction(truth) <= Fraction(upper) <= Fraction(lower) + Fraction(1, 10**5)
    record = json.loads(run(capsys, monkeypatch, proof, tmp_path, "--json")[1])
    assert (record["kind"], "unit" in record) == (proof.kind, False)
    assert Fraction(record["lower"]) <= Fraction(truth) <= Fraction(record["upper"])
    channel = tmp_path / "channel.json"
    COIN.save(channel, prior=HALF)
    assert run(capsys, monkeypatch, proof, tmp_path, "--channel", str(channel))[0] == 0
    IDENTITY.save(channel, prior=HALF, force=True)
    assert run(capsys, monkeypatch, proof, tmp_path, "--channel", str(channel))[0] == 1


def response(size, ratio):
    """The rows of randomised response."""
    share = Fraction(1, ratio + size - 1)
    return [[share * (ratio if row == column else 1) for column in range(size)] for row in range(size)]


STATISTICS = {
    "response, Π": (response(10, 3), list(range(10)), MAXIMAL),
    "response, Π_inf": (response(10, 3), list(range(10)), COST),
    "groups, Π": (response(6, 4), list("aabbcc"), MAXIMAL),
    "groups, Π_inf": (response(6, 4), list("aabbcc"), COST),
    "map, Π": ([[1, 0], [1, 0], [0, 1], [0, 1]], list("xyyz"), MAXIMAL),
    "map, Π_inf": ([[1, 0], [1, 0], [0, 1], [0, 1]], list("xyyz"), COST),
}


def certificate_of(rows, secret, kind):
    function = tl.statistic_maximal_leakage if kind == MAXIMAL else statistic_cost_leakage
    return function(tl.Channel(rows), secret).certificate


def true_ratio(rows, secret, kind):
    """e^Π or e^Π_inf over all selections; None where infinite."""
    if kind == MAXIMAL:
        return Fraction(largest_total(rows, secret))
    least = smallest_total(rows, secret)
    return 1 / Fraction(least) if least else None


def said_of(out):
    kind, meaning, lower, upper = _STATISTIC.fullmatch(out).groups()
    ends = (float("inf") if end == "infinite" else float(end) for end in (lower, upper))
    return kind, meaning, *ends


@pytest.mark.parametrize(("rows", "secret", "kind"), STATISTICS.values(), ids=list(STATISTICS))
def test_what_is_said_of_a_statistic_is_true(capsys, monkeypatch, tmp_path, rows, secret, kind):
    certificate = certificate_of(rows, secret, kind)
    status, out, _ = run(capsys, monkeypatch, certificate, tmp_path)
    assert status == 0
    said, meaning, lower, upper = said_of(out)
    assert (said, "guess the secret" in meaning) == (kind, kind == MAXIMAL)
    truth = true_ratio(rows, secret, kind)
    assert at_most_log(lower, truth)
    assert at_least_log(upper, truth)
    assert json.loads(run(capsys, monkeypatch, certificate, tmp_path, "--json")[1])["kind"] == kind


@pytest.mark.parametrize(("rows", "secret", "kind"), STATISTICS.values(), ids=list(STATISTICS))
def test_the_meaning_that_is_told_is_that_of_the_number(rows, secret, kind):
    """Easier to guess, or to name a secret that is not the true one: no prior by more, a uniform one by as much."""
    truth = true_ratio(rows, secret, kind)
    pick = max if kind == MAXIMAL else min
    rng = np.random.default_rng(1)
    names, best = sorted(set(secret)), Fraction(0)
    choices = [[row for row, label in enumerate(secret) if label == name] for name in names]
    uniform = [{row: Fraction(1, len(names)) for row in chosen} for chosen in product(*choices)]
    drawn = [dict(enumerate(map(Fraction, rng.dirichlet(np.ones(len(rows)))))) for _ in range(50)]
    for prior in [*uniform, *drawn]:
        joint = [
            [
                sum((prior.get(row, Fraction(0)) * Fraction(rows[row][y]) for row in own), Fraction(0))
                for own in choices
            ]
            for y in range(len(rows[0]))
        ]
        before = pick(sum(column) for column in zip(*joint, strict=True))
        after = sum(pick(column) for column in joint)
        if kind == COST and not after:
            assert truth is None
            return
        best = max(best, after / before if kind == MAXIMAL else before / after)
        assert truth is None or best <= truth
    assert best == truth


def test_a_map_says_what_its_matrix_says(capsys, monkeypatch, tmp_path):
    proof = statistic_maximal_leakage_of_map(list("aabb"), list("xyyz")).certificate
    assert type(proof) is statistic_map.MapCertificate
    assert said_of(run(capsys, monkeypatch, proof, tmp_path)[1]) == (
        MAXIMAL,
        "guess the secret",
        0.693147,
        0.693148,
    )
    assert json.loads(run(capsys, monkeypatch, proof, tmp_path, "--json")[1])["kind"] == MAXIMAL


class TestRenamed:
    """A certificate whose kind was changed is refused, or says something true."""

    KINDS = (envelope.KIND, ordered.KIND, MAXIMAL, COST, robust.KIND, "", None, ["envelope"], "largest")
    PROOFS = (
        *(make(Fraction(1, 3)) for make, _, _ in ENVELOPES.values()),
        *(certificate_of(*case) for case in STATISTICS.values()),
        statistic_maximal_leakage_of_map(list("aabb"), list("xyyz")).certificate,
        tl.robust.envelope(IDENTITY, tl.PriorSet(min_mass="1/20"), "1/3", cells=4, tries=4).certificate,
        tl.robust.envelope(IDENTITY, tl.robust.PriorList([PRIOR]), "1/3").certificate,
        *(make().certificate for make, _ in CONTRACTIONS.values()),
        *(make(COIN, tl.PriorSet(min_mass="1/10")).certificate for make, _ in OVER_SETS.values()),
    )

    @pytest.mark.parametrize("proof", PROOFS, ids=lambda proof: f"{type(proof).__name__}, {proof.kind}")
    def test_without_a_new_digest(self, capsys, monkeypatch, tmp_path, proof):
        for kind in self.KINDS:
            if kind != proof.kind:
                record = json.loads(proof.to_json()) | {"kind": kind}
                status, out, err = run(capsys, monkeypatch, json.dumps(record), tmp_path)
                assert (status, out) == (1, "")
                assert "kind" in err

    @pytest.mark.parametrize("proof", PROOFS, ids=lambda proof: f"{type(proof).__name__}, {proof.kind}")
    def test_a_kind_that_is_missing(self, capsys, monkeypatch, tmp_path, proof):
        record = json.loads(proof.to_json())
        del record["kind"]
        status, out, err = run(capsys, monkeypatch, json.dumps(record), tmp_path)
        assert (status, out) == (2, "")
        assert 'must have the key "kind"' in err

    def test_the_digest_tells_kinds_apart(self):
        digests = [proof.digest() for proof in self.PROOFS]
        assert len(set(digests)) == len(digests)

    @pytest.mark.parametrize(("rows", "secret", "kind"), STATISTICS.values(), ids=list(STATISTICS))
    def test_with_a_new_digest(self, capsys, monkeypatch, tmp_path, rows, secret, kind):
        other = COST if kind == MAXIMAL else MAXIMAL
        renamed = replace(certificate_of(rows, secret, kind), kind=other)
        assert json.loads(renamed.to_json())["inputs"] == renamed.digest()
        status, out, err = run(capsys, monkeypatch, renamed, tmp_path)
        assert (status, out) == (1, "")
        assert "fails" in err

    def test_with_other_totals_and_a_new_digest(self, capsys, monkeypatch, tmp_path):
        """Whatever totals are claimed under whatever kind: what is accepted is true."""
        rows, secret, accepted = response(10, 3), list(range(10)), 0
        proofs = [certificate_of(rows, secret, kind) for kind in (MAXIMAL, COST)]
        totals = [sign * total for proof in proofs for total in (proof.lower.total,) for sign in (1, -1)]
        for proof, kind in product(proofs, (MAXIMAL, COST)):
            for low, high in product([*totals, Fraction(0)], repeat=2):
                changed = replace(
                    proof,
                    kind=kind,
                    lower=replace(proof.lower, total=low),
                    upper=replace(proof.upper, total=high),
                )
                status, out, _ = run(capsys, monkeypatch, changed, tmp_path)
                if status == 0:
                    accepted += 1
                    said, _, lower, upper = said_of(out)
                    assert at_most_log(lower, true_ratio(rows, secret, said))
                    assert at_least_log(upper, true_ratio(rows, secret, said))
        assert accepted > 4

    def test_an_interval_proof_is_none_of_every_post_processing(self, capsys, monkeypatch, tmp_path):
        """At 0.2 runs of outcomes reach 20/11 only, a mixture 5: no digest makes the one a proof of the other."""
        found = tl.envelope(SPLIT, PRIOR, "0.2", adversary="ordered").certificate
        forged = EnvelopeCertificate(
            found.channel,
            found.prior,
            UpperProof(found.upper.ratio, found.delta, None),
            tl.envelope(SPLIT, PRIOR, "0.2").certificate.lower,
        )
        assert forged.digest() == kind_digest(
            envelope.KIND, {"channel": SPLIT.to_dict(), "prior": PRIOR.to_dict()["prior"]}
        )
        status, out, err = run(capsys, monkeypatch, forged, tmp_path)
        assert (status, out) == (1, "")
        assert "upper end fails" in err


@pytest.mark.parametrize("form", sorted(Certificate.registry))
def test_a_certificate_of_another_version_is_to_be_made_again(capsys, monkeypatch, tmp_path, form):
    family, _, current = form.rpartition(" ")
    for version in {"1", "99"} - {current}:
        content = json.dumps({"format": f"{family} {version}"})
        status, out, err = run(capsys, monkeypatch, content, tmp_path)
        assert (status, out) == (2, "")
        assert "must be a certificate of this version of tightlip" in err
