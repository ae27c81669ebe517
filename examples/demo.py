"""A guided tour: what a list of prescriptions says about diagnoses, and how a table becomes a file that may go out."""

import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.rule import Rule

import tightlip as tl

SHIPPED = Path(__file__).parent / "clinic.json"
PEOPLE = Path(__file__).parent / "census_extract.csv"
BUILD = PEOPLE.parents[1] / "build" / "demo"


def main() -> None:
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 110)
    channel, prior, _ = tl.load(SHIPPED)

    console.print(Rule("1. The release"))
    console.print(
        f"{SHIPPED.name} describes what a clinic wants to publish: the prescription of each patient, which depends "
        "on the diagnosis. The diagnosis is the secret; a stranger knows how common each one is.\n"
    )
    console.print(f"  {prior}\n  {channel}\n")

    console.print(Rule("2. What it gives away"))
    run(console, "measure", SHIPPED, "--delta", "1/10", "--epsilon", "log(2)")

    console.print(Rule("3. Giving away less"))
    noisy = channel.post_process(tl.mechanism.randomized_response(list(channel.outputs), tl.log_of(2)))
    console.print("Randomise each prescription before publishing it (randomised response at ε = log 2):\n")
    console.print(f"  {tl.measure(noisy, prior).to_dict()['headline']}")
    console.print(f"  Before: {tl.pml(channel, prior)}\n  After: {tl.pml(noisy, prior)}\n")
    budget = tl.log_of("21/20")
    extremal = tl.mechanism.pml_extremal(prior, budget)
    console.print(
        "Or publish a noisy diagnosis, as useful as any can be with PML at most log 21/20. In this high-privacy regime "
        "the best mechanism names each diagnosis a little less often when it is true than when it is not:\n"
    )
    console.print(f"  {tl.measure(extremal, prior).to_dict()['headline']}")
    implied = tl.convert.implied("pml", budget, prior)
    console.print(
        f"  For this prior it also means PMC {implied.pmc} and LDP {implied.ldp} ({implied.why.pmc}).\n"
    )

    console.print(Rule("4. A whole table"))
    console.print(
        f"{PEOPLE.name} is synthetic: people with age, sex, area, marital status and more. May these four be published "
        "when nothing may make it more than 3 times as likely that somebody has difficulty walking (DPHY = 1)?\n"
    )
    BUILD.mkdir(parents=True, exist_ok=True)
    plan = [
        "--secret",
        "DPHY=1",
        "--not-secret",
        "DPHY=N",
        "--release",
        "AGEP,SEX,PUMA,MSP",
        "--bins",
        "AGEP=5",
    ]
    plan += ["--budget", "3x"]
    run(console, "audit", PEOPLE, *plan, "--html", BUILD / "audit.html", "--force")

    console.print(Rule("5. A file that may go out"))
    console.print("Publish each row as finely as the budget allows; everything stays true:\n")
    written = ["--out", BUILD / "safe.csv", "--html", BUILD / "safe.html", "--force"]
    run(console, "protect", PEOPLE, *plan, "--seconds", "5", *written, "--quiet")
    console.print()
    run(console, "verify", BUILD / "safe.csv.receipt.json", "--table", PEOPLE)
    console.print("\nThe same in a browser: tightlip page examples/census_extract.csv")
    console.print(f"\nPages that work offline, and the rows: {BUILD.relative_to(PEOPLE.parents[1])}")


def run(console: Console, *command: str | Path) -> None:
    """Run the program as one would in a terminal; a budget that is not met is told, and is no failure."""
    words = [f'"{word}"' if " " in str(word) else getattr(word, "name", word) for word in command]
    console.print(f"$ tightlip {' '.join(words)}\n", markup=False)
    status = subprocess.run([sys.executable, "-m", "tightlip", *map(str, command)], check=False).returncode
    if status not in (0, 1):
        raise SystemExit(status)


if __name__ == "__main__":
    main()
