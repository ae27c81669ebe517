"""Warnings that engines cause in each other; those of our own code stay errors."""

import pytest

IGNORED = [
    pytest.mark.filterwarnings(rf"ignore:{text}")
    for text in (
        r"fetch_(arrow_table|record_batch)\(\) is deprecated:DeprecationWarning",  # Ibis calls them in DuckDB
        "The 'future.infer_string' option is deprecated",  # Ibis asks pandas
        "The copy keyword is deprecated",  # Spark tells pandas
        "unclosed <socket.socket:ResourceWarning",  # Spark's results come by sockets that Python closes
        "Exception ignored in. <socket.socket:pytest.PytestUnraisableExceptionWarning",
    )
]
