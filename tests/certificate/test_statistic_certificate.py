"""Proofs of statistic leakages travel as JSON, verify without a solver, and fail when anything is changed."""

import json
import math
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import pytest

import tightlip as tl
from tightlip.certificate.statistic import COST, MAXIMAL, Leaf, Split, StatisticCertificate, statistic_digest
from tightlip.certificate.statistic_map import MapCertificate, map_digest
from tightlip.statistic.maximal import (
    cost_leakage as statistic_cost_leakage,
)
from tightlip.statistic.maximal import (
    maximal_leakage_of_map as statistic_maximal_leakage_of_map,
)
from tightlip.statistic.maximal import (
    statistic_maximal_leakage,
)

FANO = [(0, 1, 2), (0, 3, 4), (0, 5, 6), (1, 3, 5), (1, 4, 6), (2, 3, 6), (2, 4, 5)]
CHANNEL = tl.Channel([[Fraction(int(y in line), 3) for y in range(7)] for _ in range(2) for line in FANO])
SECRET = ("a",) * 7 + ("b",) * 7
FAILS = tl.errors.CertificateInvalid


@pytest.fixture(scope="module")
def found():
    return statistic_maximal_leakage(CHANNEL, SECRET)


@pytest.fixture(scope="module")
def certificate(found):
    return found.certificate


def test_the_tree_has_branches(certificate):
    assert any(isinstance(node, Split) for node in certificate.upper.nodes)


@pytest.mark.parametrize(
    ("measure", "channel"),
    [
        (statistic_maximal_leakage, CHANNEL),
        (statistic_maximal_leakage, tl.Channel(CHANNEL.floats)),
        (statistic_cost_leakage, CHANNEL),
        (statistic_cost_leakage, tl.Channel([[0.1, 0.9], [0.5, 0.5]] * 7)),
    ],
)
def test_round_trip(measure, channel):
    proof = measure(channel, SECRET).certificate
    again = StatisticCertificate.from_json(proof.to_json())
    again.verify()
    assert (again.upper, again.lower, again.claim()) == (proof.upper, proof.lower, proof.claim())
    assert again.digest() == proof.digest() == statistic_digest(proof.kind, channel, SECRET)


def test_fresh_process(certificate, tmp_path):
    path = tmp_path / "proof.json"
    path.write_text(certificate.to_json())
    program = (
        "import sys; from pathlib import Path\n"
        "from tightlip.certificate.statistic import StatisticCertificate\n"
        f"StatisticCertificate.from_json(Path({str(path)!r}).read_text()).verify()\n"
        "print('highspy' in sys.modules, 'scipy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False False"


class TestTampering:
    def test_totals(self, certificate):
        lowered = replace(certificate.upper, total=certificate.upper.total * Fraction(999, 1000))
        with pytest.raises(FAILS, match="upper end fails: the prices of node"):
            replace(certificate, upper=lowered).verify()
        raised = replace(certificate.lower, total=certificate.lower.total * Fraction(1001, 1000))
        with pytest.raises(FAILS, match="lower end fails: the selection has the total"):
            replace(certificate, lower=raised).verify()

    @pytest.mark.parametrize("rows", [(0,), (0, 1), (0, 7, 8), (0, 99), (-1, 7), (7, 7)])
    def test_selections(self, certificate, rows):
        with pytest.raises(FAILS, match="one row for each secret"):
            replace(certificate, lower=replace(certificate.lower, rows=rows)).verify()

    def test_prices(self, certificate):
        first, *rest = certificate.upper.prices
        for wrong, words in (
            ((tuple(price / 2 for price in first), *rest), "prove"),
            ((first[:-1], *rest), "a price for each of 7 outputs"),
            ((), "missing or has no prices"),
        ):
            with pytest.raises(FAILS, match=f"upper end fails.*{words}"):
                replace(certificate, upper=replace(certificate.upper, prices=wrong)).verify()

    def test_negative_prices_prove_nothing_false(self):
        found = statistic_maximal_leakage(tl.Channel([["1/2", "1/2"], ["1/4", "3/4"]])).certificate
        free = replace(found.upper, prices=((Fraction(-9), Fraction(-9)),), nodes=(Leaf(0),))
        with pytest.raises(FAILS, match="upper end fails"):
            replace(found, upper=free).verify()

    @pytest.mark.parametrize(
        "nodes",
        [
            (),
            (Leaf(-1),),
            (Leaf(99),),
            (Split(0, 0, 0),),
            (Split(99, 1, 2), Leaf(0), Leaf(0)),
            (Split(0, 1, 2), Split(0, 3, 4), Leaf(0), Leaf(0), Leaf(0)),
            (Split(0, 1, 2), Split(1, 3, 4), Leaf(0), Leaf(0), Leaf(0)),
        ],
    )
    def test_trees_that_do_not_cover(self, certificate, nodes):
        generous = replace(certificate.upper, total=Fraction(100), nodes=nodes)
        with pytest.raises(FAILS, match="upper end fails: node"):
            replace(certificate, upper=generous).verify()

    def test_nodes_with_two_parents(self):
        """They would make a short file take an endless time to check."""
        pairs = 40
        channel = tl.Channel([["1/2", "1/2"]] * 2 * pairs)
        found = statistic_maximal_leakage(channel, [row // 2 for row in range(2 * pairs)]).certificate
        nodes = (*(Split(2 * place, place + 1, place + 1) for place in range(pairs)), Leaf(0))
        with pytest.raises(FAILS, match=f"node {pairs} of the tree must be reached once"):
            replace(found, upper=replace(found.upper, nodes=nodes)).verify()

    def test_other_inputs(self, certificate):
        with pytest.raises(FAILS, match="fails"):
            replace(certificate, secret=tuple(range(14))).verify()
        with pytest.raises(FAILS, match="a secret for each of 14 rows"):
            replace(certificate, secret=("a",)).verify()
        with pytest.raises(FAILS, match="fails"):
            replace(certificate, kind=COST).verify()

    def test_ends_that_the_certificate_does_not_prove(self, found):
        for wrong in (replace(found, lower=0.0, upper=0.1), replace(found, lower=found.upper, upper=1.0)):
            with pytest.raises(FAILS, match="the certificate proves"):
                wrong.verify()


class TestJson:
    def test_labels_that_look_different_are_different(self):
        """1 and true are equal in Python: read as one secret they would prove that nothing leaks."""
        record = json.loads(
            statistic_maximal_leakage(tl.Channel([[1, 0], [0, 1]]), [1, 1]).certificate.to_json()
        )
        record["secret"] = [1, True]
        record["inputs"] = statistic_digest(MAXIMAL, tl.Channel([[1, 0], [0, 1]]), (1, True))
        with pytest.raises(FAILS, match="secret must not have labels as alike as 1 and true"):
            StatisticCertificate.from_json(json.dumps(record))
        record = json.loads(statistic_maximal_leakage_of_map([1, 1], ["a", "b"]).certificate.to_json())
        record["outputs"] = [1, True]
        record["inputs"] = map_digest((1, True), ("a", "b"))
        with pytest.raises(FAILS, match="outputs must not have labels as alike as 1 and true"):
            MapCertificate.from_json(json.dumps(record))

    def changed(self, certificate, change):
        record = json.loads(certificate.to_json())
        change(record)
        return json.dumps(record)

    @pytest.mark.parametrize(
        "change",
        [
            lambda record: record["channel"]["channel"].reverse(),
            lambda record: record["secret"].sort(reverse=True),
        ],
    )
    def test_changed_inputs_are_noticed_by_their_hash(self, certificate, change):
        with pytest.raises(FAILS, match="was changed: the hash"):
            StatisticCertificate.from_json(self.changed(certificate, change))

    @pytest.mark.parametrize(
        "change",
        [
            lambda record: record["upper"].pop("total"),
            lambda record: record["upper"].update(nodes=[[0, 1]]),
            lambda record: record["upper"].update(nodes=["0"]),
            lambda record: record["lower"].update(rows=[True]),
            lambda record: record.update(kind="middle"),
            lambda record: record.update(secret=3),
            lambda record: record["upper"].update(total="1/0"),
        ],
    )
    def test_malformed(self, certificate, change):
        with pytest.raises(FAILS, match="malformed"):
            StatisticCertificate.from_json(self.changed(certificate, change))

    def test_another_format(self, certificate):
        for kind in (StatisticCertificate, MapCertificate):
            keys = {"StatisticCertificate": certificate, "MapCertificate": _map().certificate}[kind.__name__]
            with pytest.raises(tl.errors.InvalidInput, match="certificate format must be"):
                kind.from_json(self.changed(keys, lambda record: record.update(format="x")))


def _map():
    return statistic_maximal_leakage_of_map(["p", "p", ("q", 1), "r"], ["x", "y", "y", None])


class TestMap:
    def test_round_trip(self):
        proof = _map().certificate
        again = MapCertificate.from_json(proof.to_json())
        again.verify()
        assert again == proof
        assert again.claim() == proof.claim()
        assert (again.claim().lower, again.claim().upper) == pytest.approx((math.log(3), math.log(3)))
        assert again.digest() == map_digest(proof.outputs, proof.secret)

    def test_tampering(self):
        proof = _map().certificate
        lower, upper = proof.lower, proof.upper
        for wrong, words in (
            (replace(proof, upper=replace(upper, total=2)), "upper end fails: the cover has 3"),
            (
                replace(proof, lower=replace(lower, total=Fraction(4))),
                "lower end fails: the selection reaches 3",
            ),
            (replace(proof, lower=replace(lower, rows=(1, 2))), "one input for each secret"),
            (replace(proof, lower=replace(lower, rows=(99,))), "one input for each secret"),
            (replace(proof, secret=("x",)), "inputs and a secret for each, got 4 and 1"),
            (replace(proof, outputs=(), secret=()), "inputs and a secret for each, got 0 and 0"),
        ):
            with pytest.raises(FAILS, match=words):
                wrong.verify()

    def test_json(self):
        record = json.loads(_map().certificate.to_json())
        for change, words in (
            ({"outputs": ["p"] * 4}, "was changed: the hash"),
            ({"lower": {}}, "malformed"),
            ({"upper": {"total": 1.5, "outputs": []}}, "malformed"),
        ):
            with pytest.raises(FAILS, match=words):
                MapCertificate.from_json(json.dumps({**record, **change}))
