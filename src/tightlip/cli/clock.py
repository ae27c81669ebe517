"""What time it is, for reports that say when they were made."""

from __future__ import annotations

import os
from datetime import UTC, datetime

from tightlip.errors import InvalidInput, quoted


def now() -> str:
    """Date and time in UTC; the environment's SOURCE_DATE_EPOCH, in seconds since 1970, takes the place of the clock.

    A report made twice from the same table at the same SOURCE_DATE_EPOCH is the same file.
    """
    given = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        moment = datetime.fromtimestamp(int(given), UTC) if given else datetime.now(UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidInput(
            f"SOURCE_DATE_EPOCH must be a whole number of seconds since 1970, got {quoted(given)}; unset it."
        ) from error
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"
