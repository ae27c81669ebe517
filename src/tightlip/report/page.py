"""Render a page that loads nothing: every value escaped, every script named by its hash."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

from tightlip.errors import InvalidInput
from tightlip.numeric.display import format_count
from tightlip.report.amounts import join_names
from tightlip.report.audit_record import as_json

if TYPE_CHECKING:
    from jinja2 import Environment

_QUANTITY = re.compile(r"(\d) (?=nats?\b|bits?\b|%|\d{3}\b)")


def render_page(template: str, charts: dict[str, Any], **context: Any) -> str:
    """Render a template with its pictures.

    Only scripts whose hash the page states may run and nothing may be fetched, so that a value of the table that
    slipped through the escaping could still do no harm.
    """
    from markupsafe import Markup

    environment = _environment()
    library, script = _library(), _source(environment, "audit.js")
    return environment.get_template(template).render(
        **context,
        charts=charts,
        css=Markup(_source(environment, "audit.css")),
        library=Markup(library),
        script=Markup(script),
        script_hashes=Markup(" ".join(_hash(text) for text in (library, script))),
    )


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("tightlip.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_keep_together,
    )
    environment.filters |= {"pretty": _pretty, "grouped": format_count, "listed": join_names}
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "allow_nan": False}
    return environment


def _keep_together(value: Any) -> Any:
    """Numbers and their units on one line; text that is markup already stays as it is."""
    from markupsafe import Markup

    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return _QUANTITY.sub("\\1\N{NO-BREAK SPACE}", value)


def _source(environment: Environment, name: str) -> str:
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0]


def _library() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, which must not end the element it is put into."""
    import vl_convert

    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    if any(mark in bundle.lower() for mark in ("</script", "<!--", "\r")):
        raise InvalidInput(
            "the charts' library cannot be put into a page; install another vl-convert-python."
        )
    return bundle


def _hash(script: str) -> str:
    """What a content security policy says to let this script run: SHA-256 of its text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def _pretty(value: Any) -> str:
    return json.dumps(as_json(value), indent=1, ensure_ascii=False, allow_nan=False)
