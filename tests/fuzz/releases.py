"""Proofs and receipts of releases, damaged and forged: refused, or what they say is true, or as it was."""

import json
import math
from fractions import Fraction
from itertools import product

import pandas as pd
from scipy.optimize import linprog

import tightlip as tl
from fuzz.certificates import forged, verified
from fuzz.damage import damaged, damaged_json, nudged
from tightlip.table.local import file_digest

_PROOF = ["claim", "claim", "claim", "prices", "exposure", "kernel", "scale", "limits", "exposed", "counts"]
_RECEIPT = ["proved", "written", "asked"]
_NEAR = 1e-6  # for the oracle that works in floats
_MOST_PEOPLE = 10**6  # from here on its numbers are too far apart


def _people(random):
    rows = random.randint(8, 30)
    return pd.DataFrame(
        {
            "age": [random.randint(0, 4) for _ in range(rows)],
            "town": [random.choice("xy") for _ in range(rows)],
            "ill": [random.choice("nnf") for _ in range(rows - 2)] + ["n", "f"],
        }
    )


def _protection(random, people):
    return tl.protect(
        people,
        "ill",
        ["age", "town"],
        random.choice(["2x", "3/2x", "0.3", "1x"]),
        levels={"age": ["as is", 2, "out"], "town": ["as is", "out"]},
        weights=random.choice([None, {"age": 2}]),
        delta=random.choice([None, "0.1"]),
        randomised=random.random() < 0.7,
        seconds=0.05,
    )


def fuzz_release(random, folder):
    """A proof of a release, also one with a hash that fits again, is refused, or true of the counts that it holds."""
    people = _people(random)
    text, whole = _protection(random, people).certificate.to_json(), random.random() < 0.1
    if not whole:
        named = [random.choice(_PROOF)]
        text = forged(random, text, lambda: _protection(random, _people(random)).certificate.to_json(), named)
    path = folder / "proof.json"
    path.write_text(text, encoding="utf-8", errors="replace")
    status, shown = verified([str(path)])
    assert status == 0 or not whole
    if status == 0:
        claim, record = json.loads(shown), json.loads(path.read_text(encoding="utf-8"))
        assert claim["inputs"] == record["inputs"]
        if sum(record["counts"][3]) <= _MOST_PEOPLE:
            best = _optimum(record)
            assert float(claim["lower"]) <= best + _NEAR
            assert float(claim["upper"]) >= best - _NEAR


def _optimum(record):
    """The largest share of detail of a truthful release that keeps the limits, by the whole linear program."""
    people, cells = record["counts"][3], range(len(record["codes"]))
    total = sum(people)
    held = {(secret, cell): n for secret, cell, n in zip(*record["counts"][:3], strict=True)}
    values = set()
    for node in product(*record["levels"]):
        groups = {}
        for cell in cells:
            key = tuple(level[code] for level, code in zip(node, record["codes"][cell], strict=True))
            groups.setdefault(key, set()).add(cell)
        values |= {frozenset(group) for group in groups.values()}
    values = sorted(values, key=sorted)

    def content(members):
        found = -math.log(sum(people[cell] for cell in members) / total)
        for column, weight in enumerate(map(Fraction, record["weights"])):
            shown = {record["codes"][cell][column] for cell in members}
            having = sum(people[cell] for cell in cells if record["codes"][cell][column] in shown)
            found -= float(weight - 1) * math.log(having / total)
        return found

    exposed = float(Fraction(record["exposed"]))
    pairs = [(place, cell) for place, members in enumerate(values) for cell in members]
    pairs += [(-1, cell) for cell in cells] if exposed else []
    worth = [-people[cell] * content(values[at] if at >= 0 else {cell}) for at, cell in pairs]
    rows, ends = [], []
    for secret, kind, form, text in record["limits"]:
        share = _share(kind, form, text, sum(held.get((secret, cell), 0) for cell in cells) / total)
        sign = -1 if kind == "pmc" else 1
        over = [sign * (held.get((secret, cell), 0) - share * people[cell]) for cell in cells]
        rows += [[over[cell] if at == place else 0.0 for at, cell in pairs] for place in range(len(values))]
    ends = [0.0] * len(rows)
    if exposed:
        rows.append([float(people[cell]) if at < 0 else 0.0 for at, cell in pairs])
        ends.append(exposed * total)
    equal = [[float(own == cell) for _, own in pairs] for cell in cells]
    whole = sum(people[cell] * content({cell}) for cell in cells)
    found = linprog(worth, rows or None, ends or None, equal, [1.0] * len(people))
    assert found.status == 0
    return -found.fun / whole if whole > 0 else 1.0


def _share(kind, form, text, prior):
    """The share of a secret that a limit allows; `form` says whether a level is a factor or in nats."""
    level = float(Fraction(text))
    if kind == "cap":
        return level
    factor = level if form == "ratio" else math.exp(min(level, 700.0))
    return prior / factor if kind == "pmc" else min(prior * factor, 1e9)


def fuzz_receipt(random, folder):
    """A receipt that was changed is refused, or says the same; with a hash that fits again, it knows its files."""
    path, other = folder / "safe.csv.receipt.json", folder / "other.receipt.json"
    policy = tl.Policy("ill", ["age", "town"], min_count=random.choice([None, 2]))
    tl.release(_people(random), policy, folder / "safe.csv")
    text = path.read_text()
    status, before = verified([str(path)])
    assert status == 0
    if random.random() < 0.3:
        data = (folder / "safe.csv").read_bytes()
        changed = damaged(random, data)
        (folder / "safe.csv").write_bytes(changed)
        assert verified([str(path)])[0] == (0 if changed == data else 1)
        return

    def second():
        tl.release(_people(random), policy, folder / "safe.parquet", receipt=other)
        return other.read_text()

    hashed = random.random() < 0.5
    if hashed:
        forgery = forged(random, text, second, _RECEIPT)
    else:
        change = random.choice([damaged_json, lambda *given: nudged(*given, _RECEIPT), _spliced(second)])
        forgery = change(random, text)
    path.write_text(forgery, encoding="utf-8", errors="replace")
    status, shown = verified([str(path)])
    if status == 0 and not hashed:
        assert json.loads(forgery) == json.loads(text)
        assert shown == before
    if status == 0:
        for file in json.loads(forgery)["files"].values():
            assert file_digest(folder / file["name"]) == file["sha256"]


def _spliced(other):
    def change(random, text):
        record, parts = json.loads(text), json.loads(other())
        for key in random.sample([*record], random.randint(1, 2)):
            record[key] = parts[key]
        return json.dumps(record)

    return change
