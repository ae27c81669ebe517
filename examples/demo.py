"""A guided measurement: what does a prescription list say about the diagnosis, and what helps?"""

import sys
from pathlib import Path

from rich.console import Console
from rich.rule import Rule

import tightlip as tl
from tightlip.cli.main import main as run
from tightlip.measures.summary import measure as measure_all
from tightlip.numeric.display import format_up
from tightlip.report.measurement import headline, measurement_record, measurement_text

SHIPPED = Path(__file__).parent / "clinic.json"
RECORDS = Path(__file__).parent / "health_records.csv"
REPORT = RECORDS.parents[1] / "build" / "demo" / "report.html"


def main() -> None:
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 110)
    given = tl.load(SHIPPED)
    prior = given.require_prior(SHIPPED)

    console.print(Rule("1. The release"))
    console.print(
        f"{SHIPPED.name} describes what a clinic wants to publish: the prescription of each patient, which depends "
        "on the diagnosis. The diagnosis is the secret; a stranger knows how common each one is.\n"
    )
    console.print(f"  {prior}\n  {given.channel}\n")

    console.print(Rule("2. What it gives away"))
    summary = measure_all(given.channel, prior)
    console.print(
        measurement_text(measurement_record(summary, deltas=["1/10"], epsilons=[tl.log_of(2)], unit="nats"))
    )

    console.print(Rule("3. Giving away less"))
    noisy = given.channel.post_process(
        tl.mechanism.randomized_response(list(given.channel.outputs), tl.log_of(2))
    )
    console.print("Randomise each prescription before publishing it (randomised response at ε = log 2):\n")
    console.print(f"  {headline(measure_all(noisy, prior))}")
    console.print(f"  PML falls from {_worst(given.channel, prior)} to {_worst(noisy, prior)} nats.\n")
    budget = tl.log_of("21/20")
    extremal = tl.mechanism.pml_extremal(prior, budget)
    console.print(
        "Or publish a noisy diagnosis, as useful as any can be with PML at most log 21/20. In this high-privacy regime "
        "the best mechanism names each diagnosis a little less often when it is true than when it is not:\n"
    )
    console.print(f"  {headline(measure_all(extremal, prior))}")
    implied = tl.convert.implied("pml", budget, prior)
    console.print(
        f"  For this prior, {format_up(implied.pml)}-PML also means {format_up(implied.pmc)}-PMC "
        f"and {format_up(implied.ldp)}-LDP ({implied.why.pmc}).\n"
    )

    console.print(Rule("4. A whole table"))
    console.print(
        f"{RECORDS.name} is synthetic: patients with age, zip code, sex and disease. May age, zip and sex be published "
        "when no released value may leak more than 1.5 nats about the disease?\n"
    )
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    command = ["audit", str(RECORDS), "--secret", "disease", "--release", "age,zip,sex"]
    run([*command, "--delta", "0.01", "--budget", "1.5 nats", "--html", str(REPORT), "--force"])
    console.print(f"The same as a page that works offline: {REPORT.relative_to(RECORDS.parents[1])}")


def _worst(channel: tl.Channel, prior: tl.Prior) -> str:
    return format_up(tl.pml(channel, prior).worst)


if __name__ == "__main__":
    main()
