"""Certificates of every kind, damaged and forged: refused, or what they say is true, by oracles that try everything."""

import contextlib
import io
import json
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise
from operator import truediv

import tightlip as tl
from envelope_oracle import largest_ratio
from exact_oracle import at_least_log, at_most_log, marginal, masses_of, pml, rows_of, supported
from fuzz.damage import damaged_json, nudged
from fuzz.texts import as_label
from statistic_oracle import largest_total, smallest_total
from tightlip.certificate import Certificate
from tightlip.certificate.statistic import MAXIMAL
from tightlip.cli.main import main
from tightlip.envelopes.response import channel_envelope
from tightlip.statistic.maximal import cost_leakage as statistic_cost_leakage
from tightlip.statistic.maximal import maximal_leakage_of_map as statistic_maximal_leakage_of_map


def _read(record):
    return Certificate.registry[record["format"]].from_parts(record)


# what a proof says, apart from its channel and the steps of the proof
_CLAIMS = ["delta", "ratio", "mass", "total", "lower", "upper"]
_DIVERGENCES = {
    "tv": ("total variation distance", lambda p, q: sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2),
    "chi2": ("chi-squared divergence", lambda p, q: sum((a - b) ** 2 / b for a, b in zip(p, q, strict=True))),
}
_NEAR = Fraction(1, 10**5)  # for the oracle that works in floats


def fuzz_certificate(random, folder):
    """A proof, also one with a hash that fits again, is refused, or what it says of its channel is true."""
    kind = random.choice([*_MAKERS])
    file = _channel(random, response=kind == "response")
    proof = _MAKERS[kind](random, file)
    text, whole = proof.to_json(), random.random() < 0.1
    if not whole:
        text = forged(random, text, lambda: _MAKERS[kind](random, file).to_json(), _CLAIMS)
    path, channel = folder / "proof.json", folder / "channel.json"
    path.write_text(text, encoding="utf-8", errors="replace")
    channel.write_text(json.dumps(file), encoding="utf-8")
    about = ["--channel", str(channel)] if random.random() < 0.5 else []
    status, shown = verified([str(path), *about])
    if whole:
        assert status == (1 if kind in ("map", "divergence", "design") and about else 0)
    if status == 0:
        claim, record = json.loads(shown), json.loads(path.read_text(encoding="utf-8"))
        own = proof.digest()
        if kind == "bounds":  # its hash is of δ too
            own = replace(
                proof, arguments=proof.arguments | {"delta": _read(record).arguments["delta"]}
            ).digest()
        assert claim["inputs"] == record["inputs"] == own or not about
        _check_claim(claim, record, _read(record))


def _channel(random, *, response):
    """A channel file, exact or in floats; that of randomised response if asked."""
    size, width = random.randint(2, 4), random.randint(2, 4)
    rows = [[random.randint(0, 4) for _ in range(width - 1)] + [1] for _ in range(size)]
    if response:
        low, more = random.randint(0, 2), random.randint(1, 4)
        rows = [[low + more * (one == two) for one in range(size)] for two in range(size)]
    masses = [random.randint(0, 4) for _ in range(size - 1)] + [1]
    share = (lambda part, whole: f"{part}/{whole}") if random.random() < 0.7 else truediv
    record = {
        "prior": [share(mass, sum(masses)) for mass in masses],
        "channel": [[share(entry, sum(row)) for entry in row] for row in rows],
        "secret": [random.choice("abc") for _ in range(size)],
    }
    if random.random() < 0.5:
        record["inputs"] = [f"s{place}" for place in range(size)]
    return record


def _envelope(random, file):
    return tl.envelope(*_release(file), _delta(random)).certificate


def _ordered(random, file):
    return tl.envelope(*_release(file), _delta(random), adversary="ordered").certificate


def _response(random, file):
    return channel_envelope(*_release(file), _delta(random)).certificate


def _maximal(_, file):
    return tl.statistic_maximal_leakage(_release(file)[0], file["secret"]).certificate


def _cost(_, file):
    return statistic_cost_leakage(_release(file)[0], file["secret"]).certificate


def _map(random, file):
    return statistic_maximal_leakage_of_map(
        [random.choice("wxyz") for _ in file["secret"]], file["secret"]
    ).certificate


def _bounds(random, file):
    return tl.envelopes.bounds(*_release(file), _delta(random)).certificate


def _divergence(random, file):
    prior = _release(file)[1]
    other = tl.Prior.uniform(prior.labels)
    return tl.contraction.divergence(prior, other, random.choice([*_DIVERGENCES])).certificate


def _design(random, file):
    """A small mechanism; masses are positive where a design needs them to be."""
    size = random.randint(2, 3)
    masses = [random.randint(1, 4) for _ in range(size)]
    prior = tl.Prior([Fraction(mass, sum(masses)) for mass in masses])
    name = random.choice(["pml", "ldp", "pmc", "maximal_leakage", "envelope"])
    own = tl.log_of(Fraction(random.randint(3, 9), 2))
    level = {name: (own, Fraction(1, random.randint(2, 9))) if name == "envelope" else own}
    return tl.design(prior, **level, **{random.choice(["loss", "gain"]): "hamming"}).certificate


_MAKERS = {
    "design": _design,
    "bounds": _bounds,
    "divergence": _divergence,
    "envelope": _envelope,
    "ordered": _ordered,
    "response": _response,
    "maximal": _maximal,
    "cost": _cost,
    "map": _map,
}


def _release(file):
    names = file.get("inputs")
    return tl.Channel(file["channel"], names), tl.Prior(file["prior"], names)


def _delta(random):
    return Fraction(random.randint(1, 10), random.choice([10, 30, 1000]))


def forged(random, text, other, claims):
    """Values changed, mostly under `claims`, or parts of another proof taken; often with the hash that fits then."""
    if random.random() < 0.3:
        record, parts = json.loads(text), json.loads(other())
        for key in random.sample([*record], random.randint(1, 2)):
            record[key] = parts[key]
        text = json.dumps(record)
    if random.random() < 0.6:
        text = nudged(random, text, claims)
    elif random.random() < 0.9:
        text = damaged_json(random, text)
    return _hashed(text) if random.random() < 0.7 else text


def _hashed(text):
    """The same text with the hash of what it says; as it is where it says nothing."""
    try:
        record = json.loads(text)
        record["inputs"] = _read(record).digest()
    except (ValueError, TypeError, LookupError, ArithmeticError):
        return text
    return json.dumps(record)


def verified(arguments):
    """The exit status of `tightlip verify`, and what it prints."""
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(io.StringIO()) as said:
        status = main(["verify", *arguments, "--json"])
    assert status in (0, 1, 2)
    assert status == 0 or (said.getvalue().count("\n") == 1 and not shown.getvalue())
    return status, shown.getvalue()


def _check_claim(claim, record, proof):
    """A claim must hold of the channel that the proof is about: in rationals, and as it is told."""
    if claim["kind"].endswith("of a mechanism"):
        _check_design(claim, proof)
        return
    if claim["kind"].startswith("statistic"):
        truth = _statistic_total(claim["kind"], record)
        assert proof.lower.total <= truth <= proof.upper.total
        ratio = truth if claim["kind"] == MAXIMAL else -1 / truth if truth else None
        _check_told(claim, ratio, ratio)
        return
    if "p" in getattr(proof, "arguments", {}):
        masses = [masses_of(proof.arguments[name].exact()) for name in ("p", "q")]
        truth = dict(_DIVERGENCES.values())[claim["kind"]](*masses)
        assert claim["lower"] <= truth <= claim["upper"]
        return
    if "arguments" in record:
        record = {name: proof.arguments[name].to_dict() for name in ("channel", "prior")}
    delta = Fraction(claim["delta_exact"])
    assert 0 <= delta <= Fraction(repr(claim["delta"]))
    kinds = [("ordered envelope", "ordered"), ("envelope", "any"), ("envelope between known bounds", "any")]
    assert (claim["kind"], claim["adversary"]) in kinds
    least, most = _envelope_ratios(claim, record, delta)
    if hasattr(proof, "lower_at"):
        assert not delta or proof.lower_at(delta) <= most
        assert proof.upper_at(delta) >= least
    _check_told(claim, least, most)


def _check_design(claim, proof):
    """Its mechanism keeps what the guarantees say, measured anew, and both ends hold of the best one found anew."""
    channel, prior = proof.channel, proof.prior
    assert len(channel.matrix) == len(prior)
    worth = sum(
        mass * entry * proof.utility.matrix[row][proof.utility.labels.position(output)]
        for row, mass in enumerate(prior.exact().masses)
        for output, entry in zip(channel.outputs, channel.matrix[row], strict=True)
    )
    assert claim["lower"] <= worth <= claim["upper"]
    measured = {
        "alip": lambda own: (
            (own.upper is None or tl.pml(channel, prior).worst <= own.upper)
            and (own.lower is None or tl.pmc(channel, prior).worst <= own.lower)
        ),
        "ldp": lambda own: tl.ldp(channel) <= own.epsilon,
        "maximal_leakage": lambda own: tl.maximal_leakage(channel) <= own.epsilon,
    }
    assert all(measured[own.key](own) for own in proof.guarantees if own.key in measured)
    if proof.pml is not None:
        (own,) = proof.guarantees
        assert tl.envelope(channel, prior, own.delta).upper <= float(own.epsilon) + 1e-9
        assert tl.pml(proof.pml.channel, prior).worst <= own.epsilon
        assert [claim["pml"]["lower"], claim["pml"]["upper"]] == [proof.pml.lower, proof.pml.upper]
        _check_design(claim["pml"], proof.pml)


def _check_told(claim, least, most):
    """The ends in nats; no leakage is below 0, whatever the last digit of stored floats says."""
    assert at_most_log(float(claim["lower"]), most and max(most, Fraction(1)))
    assert at_least_log(float(claim["upper"]), least and max(least, Fraction(1)))


def _statistic_total(kind, record):
    """The largest total over every choice of a row for each secret: e^Π or −e^{−Π_inf}."""
    secret = [as_label(label) for label in record["secret"]]
    if "outputs" in record:
        outputs = [as_label(label) for label in record["outputs"]]
        rows = [[int(own == output) for output in set(outputs)] for own in outputs]
    else:
        rows = rows_of(tl.Channel.from_dict(record["channel"]))
    return Fraction(largest_total(rows, secret) if kind == MAXIMAL else -smallest_total(rows, secret))


def _envelope_ratios(claim, record, delta):
    """Ends of e^ε(δ), by trying everything; or found anew and near those of linear programs in floats."""
    rows, masses = _rows(record)
    if not delta:
        worst = max(pml(rows, masses))
        return worst, worst
    if claim["adversary"] == "ordered":
        ratio = _ordered_ratio(rows, masses, delta)
        return ratio, ratio
    near = Fraction(largest_ratio(rows, masses, float(delta)))
    least, most = near * (1 - _NEAR), near * (1 + _NEAR)
    if all(sum(row) == 1 for row in [*rows, masses]):
        found = tl.envelope(tl.Channel(rows), tl.Prior(masses), delta).certificate
        assert found.lower_at(delta) <= most
        assert found.upper_at(delta) >= least
        return found.lower_at(delta), found.upper_at(delta)
    return least, most


def _rows(record):
    """The rows and the prior of an envelope's proof, as stored and in one order."""
    prior = tl.Prior.from_json(json.dumps(record["prior"]))
    masses = masses_of(prior)
    if "alpha" in record:
        alpha, beta = Fraction(record["alpha"]), Fraction(record["beta"])
        return [
            [alpha if one == two else beta for one in range(len(prior))] for two in range(len(prior))
        ], masses
    channel = tl.Channel.from_dict(record["channel"])
    if channel.inputs.given and prior.labels.given:
        mass_of = dict(zip(prior.labels, masses, strict=True))
        masses = [mass_of[name] for name in channel.inputs]
    return rows_of(channel), masses


def _ordered_ratio(rows, masses, delta):
    """The largest ratio that cells of consecutive outcomes reach with probability δ, over every way to cut them."""
    rows, masses = supported(rows, masses)
    weights, size = marginal(rows, masses), len(rows[0])
    delta = min(delta, sum(weights))
    best = Fraction(0)
    for count in range(size):
        for cuts in combinations(range(1, size), count):
            cells = []
            for start, end in pairwise([0, *cuts, size]):
                weight = sum(weights[start:end])
                if weight:
                    cells.append((max(sum(row[start:end]) for row in rows) / weight, weight))
            best = max([best, *(ratio for ratio, _ in cells if _above(cells, ratio) >= delta)])
    return best


def _above(cells, ratio):
    return sum(weight for own, weight in cells if own >= ratio)
