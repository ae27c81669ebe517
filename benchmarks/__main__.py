"""Run every benchmark."""

from benchmarks import dense_measures, envelope_speed, import_time, maximal_leakage_qif

for benchmark in (import_time, dense_measures, maximal_leakage_qif, envelope_speed):
    benchmark.main()
