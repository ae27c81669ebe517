"""A remedy can be applied as it is printed: its policy file, audited, meets the budget, and names no rare value."""

import json

import numpy as np
import pandas as pd
import pytest

from contract.warnings_of_engines import IGNORED
from tightlip.auditing.run import audit
from tightlip.cli.main import main
from tightlip.report.audit_record import audit_report
from tightlip.report.audit_words import reason_words
from tightlip.report.disclosure import remedy_toml
from tightlip.table.chain import Chain
from tightlip.table.mapping import Mapping
from tightlip.table.policy import Policy, Released, Secret
from tightlip.table.recoding import Prefix

pytestmark = IGNORED


def people(count=400):
    generator = np.random.default_rng(11)
    age = generator.integers(18, 90, count)
    job = generator.choice(
        ["baker", "nurse", "judge", "sailor", "smith"], count, p=[0.4, 0.3, 0.2, 0.08, 0.02]
    )
    job[:3] = ["astronaut", "astronaut", "falconer"]
    ill = np.where(generator.random(count) < 0.1 + 0.3 * (age > 60) + 0.2 * (job == "judge"), "zzz", "yyy")
    ill[0] = "zzz"
    return pd.DataFrame({"s": ill, "age": age, "job": job, "sex": generator.choice(["f", "m"], count)})


def record_of(found, *, show_values=False):
    return audit_report(
        found,
        table="t",
        command="c",
        unit="nats",
        show_values=show_values,
        version="0",
        made="2026-01-02T03:04:05Z",
    ).to_dict()


def test_every_remedy_is_applied_by_its_policy_file(tmp_path):
    frame = people()
    found = audit(frame, "s", ["age", "job", "sex"], budget=0.8)
    assert len(found.remedies) >= 2
    for remedy, said in zip(found.remedies, record_of(found)["remedies"], strict=True):
        path = tmp_path / "policy.toml"
        path.write_text(said["policy"], encoding="utf-8")
        policy = Policy.from_toml(path)
        assert policy == remedy.policy
        again = audit(frame, policy=policy, budget=0.8)
        assert again.verdict is True
        assert again.deciding.worst.leakage.ratio == remedy.leakage.ratio
        assert said["reason"] == reason_words(found.policy, remedy) != ""


def test_rare_and_secret_values_are_not_printed():
    told = json.dumps(record_of(audit(people(), "s", ["age", "job", "sex"], budget=0.5)))
    assert "otherwise" in told
    assert "baker" in told
    assert not any(value in told for value in ("astronaut", "falconer", "smith", "yyy", "zzz"))


def test_a_mapping_written_in_the_plan_is_shown_with_leave_only():
    jobs = dict.fromkeys(("baker", "smith", "falconer"), "craft")
    plan = Policy("s", ["age", Released("job", Mapping(jobs, otherwise="rest"))])
    found = audit(people(), policy=plan, budget=0.5)
    kept = [remedy for remedy in found.remedies if len(remedy.policy.release) == 2]
    assert kept
    for remedy in kept:
        assert remedy_toml(found, remedy) is None
        assert "falconer" in remedy_toml(found, remedy, show_values=True)
    assert "falconer" not in json.dumps(record_of(found))


def test_a_mapping_of_a_secret_is_shown_with_leave_only():
    jobs = dict.fromkeys(("baker", "smith", "falconer"), "craft")
    secret = Secret("job", Chain([Mapping(jobs, otherwise="rest"), Prefix(1)]))
    found = audit(people(), policy=Policy(secret, ["age", "s"]), budget="1.5x")
    assert found.remedies
    for remedy in found.remedies:
        assert remedy_toml(found, remedy) is None
        assert "falconer" in remedy_toml(found, remedy, show_values=True)
    assert "falconer" not in json.dumps(record_of(found))


def test_a_mapping_of_the_plan_stays_private_where_the_column_changes_otherwise():
    """Randomised, or with the next recoding in its row coarser: the mapping is written out all the same."""
    jobs = {"baker": "a1", "smith": "a2", "falconer": "b1"}
    row = Chain([Mapping(jobs, otherwise="c1"), Prefix(2)])
    for recoding in (Mapping(jobs, otherwise="c1"), row):
        found = audit(people(), policy=Policy("s", [Released("job", recoding)]), budget=0.1)
        assert any(remedy.policy.release != found.policy.release for remedy in found.remedies)
        for remedy in found.remedies:
            assert remedy_toml(found, remedy) is None
            assert "falconer" in remedy_toml(found, remedy, show_values=True)


def run(capsys, *arguments):
    status = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


@pytest.fixture
def table(tmp_path):
    people().to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "jobs.csv").write_text(
        "job,group\n"
        + "".join(
            f"{job},{'office' if job in ('judge', 'nurse') else 'craft'}\n" for job in set(people()["job"])
        )
    )
    return tmp_path / "people.csv"


def test_write_policy_writes_what_meets_the_budget(capsys, table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plans").mkdir()
    path = tmp_path / "plans" / "better.toml"
    plan = (
        "audit",
        table,
        "--secret",
        "s",
        "--release",
        "age,job",
        "--map",
        "job=jobs.csv:0",
        "--budget",
        "0.5 nats",
    )
    status, out, _ = run(capsys, *plan, "--write-policy", path)
    assert status == 1
    said = " ".join(out.split())
    assert f"thefirstofthesechanges:{path}." in "".join(out.split())  # lines break within the path
    assert "--write-policy FILE" not in said
    assert 'nurse = "office"' in path.read_text()  # the file is not below the policy's folder
    again = "audit", table, "--policy", path, "--budget", "0.5 nats"
    assert run(capsys, *again)[0] == 0
    kept = tmp_path / "kept.toml"
    status, out, _ = run(capsys, *again, "--write-policy", kept, "--json")
    assert (status, json.loads(out)["written"]) == (0, {"policy": str(kept)})
    assert Policy.from_toml(kept) == Policy.from_toml(path)


def test_no_policy_is_written_where_none_meets_the_budget(capsys, table, tmp_path):
    path = tmp_path / "none.toml"
    plan = "audit", table, "--secret", "s", "--release", "age,sex"
    status, out, _ = run(capsys, *plan, "--budget", "0 nats", "--write-policy", path)
    assert (status, path.exists()) == (1, False)
    assert "still leaks" in " ".join(out.split())
    assert "No policy was written, since none" in " ".join(out.split())
    status, out, _ = run(capsys, *plan, "--budget", "0 nats", "--write-policy", path, "--json")
    assert json.loads(out)["written"] == {"policy": None}
    status, _, err = run(capsys, *plan, "--write-policy", path)
    assert (status, err.count("\n")) == (2, 1)
    assert "--write-policy must be given with --budget" in err
