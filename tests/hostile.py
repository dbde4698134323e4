"""Names that would be executed if a page took them for more than text."""

from __future__ import annotations

from skelgen.store import Fact, Message, Run, RunPart, StoredModel, StoredPrediction
from skelgen.trust import Interval

#: Ways to leave the place of a text in a page, and what would then be executed.
WAYS_OUT = (
    *("", '"', "'", "`", ">", '">', "'>", "-->", "]]>", "</title>", "</textarea>"),
    *(
        "</option></select>",
        "</caption></table>",
        "</pre>",
        "\u2028",
        "\\",
    ),
    *("{{", "&quot;>", "%22%3E", "\udcff"),
)
INJECTIONS = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<iframe src=javascript:alert(1)></iframe>",
    "<a href='javascript:alert(1)'>x</a>",
    " onmouseover=alert(1) x=",
    "<style>*{display:none}</style>",
    "<meta http-equiv=refresh content='0;url=//evil.example'>",
    "<base href=//evil.example>",
    "{{ 7*7 }}{% include 'x' %}",
)
HOSTILE = [way + what for way in WAYS_OUT for what in INJECTIONS]


def hostile_rows(text: str, number: int):
    """Return a row of each kind with a text in all places that take one."""
    pair = ((text, text), ("n", 5.0))
    return [
        Run(
            text, 2.0, inputs=tuple(sorted(pair)), hosts=(text, "n1"), system=text,
            allocation=text, mpi=text, source=text, status="ok", executable=text,
            loads=((text, 0.5),), costs=((text, 1.0),),
            parts=(RunPart(text, text, 1.0, 2.0, 0.5),),
            identity=f"evil-{number}",
        ),
        Fact(text, text, 1.0, "1/s", 1.0, 1.0, system=text, doubt=text),
        Message((text, "n2"), text, 2, 2e-6, 1e10, system=text, doubt=text),
        StoredPrediction(
            "model", text, Interval(1.0, 2.0, 3.0), 1.7e9, inputs=pair, hosts=(text,)
        ),
        StoredModel(text, text, 1.7e9, f"not a model {text}"),
    ]  # fmt: skip
