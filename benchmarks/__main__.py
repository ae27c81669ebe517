"""Run every benchmark."""

from benchmarks import (
    audit_counting,
    audit_measures,
    audit_privattacks,
    audit_size,
    classical_pycanon,
    contraction_speed,
    csv_wide,
    dense_measures,
    design_information,
    design_linear,
    draw,
    envelope_cells,
    envelope_speed,
    import_time,
    maximal_leakage_qif,
    protect,
    release_speed,
    repetitions,
    sample_bounds,
    statistic_speed,
)

BENCHMARKS = (
    import_time,
    dense_measures,
    maximal_leakage_qif,
    envelope_cells,
    envelope_speed,
    repetitions,
    statistic_speed,
    release_speed,
    draw,
    design_information,
    design_linear,
    contraction_speed,
    audit_counting,
    csv_wide,
    audit_measures,
    audit_privattacks,
    audit_size,
    classical_pycanon,
    protect,
    sample_bounds,
)
for benchmark in BENCHMARKS:
    benchmark.main()
