"""What an attacker writes into a text field, and what must not come of it."""

from __future__ import annotations

import html.parser
import re
from pathlib import Path

#: Characters that a terminal obeys, or that turn text around.
OBEYED = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]"
)


def payloads(canary: Path, program: Path) -> dict[str, str]:
    """Return texts that make a file appear where something takes them for code.

    Parameters
    ----------
    canary : Path
        The file that must not appear.
    program : Path
        An executable that makes it, too.
    """
    touch = f"touch {canary}"
    system = f'system("{touch}");'
    string = f'x??/"); {system} // "); {system} ("'
    comment = f"*/ __attribute__((constructor)) void f() {{ {system} }} /*"
    shell = f"; {touch}; $({touch}) `{touch}` | {touch} & ' $(shell {touch})"
    markup = "{{ 7 * 191 }}{% include '/etc/passwd' %}%s%n [link=file:///x]y[/link] [b"
    # What works wherever it stands is one text: each takes a round of commands.
    return {
        "c": f"{string} {comment}\nint f = {system}\n\t{touch}\n",
        "backslash": f'\\"); {system} //\\',
        "shell": f"!!python/object/apply:os.system ['{touch}'] {shell} {markup}",
        "page": "\"'><img src=x onerror=alert(1)><script>alert(1)</script></style>",
        "terminal": "\x1b]0;a\x07\x1b[2J\x9b2J\r\b\u202e",
        "program": str(program),
        "path": f"../../{canary.name}",
        "place": str(canary),
        "preload": f"LD_PRELOAD={program}",
        "option": f"--launcher-exec={program}",
    }


class Tags(html.parser.HTMLParser):
    """Collects the tags of a page with their attributes: what a browser obeys."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[tuple[str, ...]] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add((tag, *sorted(name for name, _ in attrs)))

    @classmethod
    def of(cls, text: str) -> set[tuple[str, ...]]:
        parser = cls()
        parser.feed(text)
        return parser.found
