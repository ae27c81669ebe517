"""How every command shows its help (arguments by name, flags without a type), and how it is interrupted."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

from tightlip.cli.interrupt import Interrupted


class Command(TyperCommand):
    """A command whose help speaks of what to write, not of Python's types."""

    def invoke(self, ctx: Any) -> Any:
        """Run it; of an interrupt different versions of click make different things, all silent."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise Interrupted from error

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters with the names that the help shows for what they take."""
        params = super().get_params(ctx)
        for param in params:
            if param.param_type_name == "argument":
                param.metavar = param.metavar or str(param.name).upper()
            elif getattr(param, "is_flag", False):
                param.metavar = ""
        return list(params)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The usage line without the braces that some versions of typer put around arguments."""
        return [piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)]
