"""Tables on the terminal, with notes below them."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["print_table"]


def print_table(heads: Iterable[str], rows: Iterable[Iterable[str]], notes: Iterable[str]) -> None:
    """
    Print a table.

    Args:
        heads: Column headings.
        rows: Cells of each row, as rich markup.
        notes: Notes to print below the table.
    """
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0))
    for number, head in enumerate(heads):
        table.add_column(head, no_wrap=number == 0, overflow="fold")
    for row in rows:
        table.add_row(*row)
    console = Console(highlight=False, soft_wrap=True)
    console.print(table)
    for note in notes:
        console.print(f"note: {note}", markup=False)
