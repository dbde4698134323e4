"""Formulas: what they are made of, how they are read, written and evaluated.

In: text that a person or a file gives, or what a fit has found. Out: numbers, text that
is read back without loss, LaTeX, MathML, Python. Nothing of a formula is ever executed.
"""

from skelgen.models.formulas.expression import (
    MATHEMATICS,
    Expression,
    FunctionCall,
    Name,
    Number,
    Power,
    Product,
    Quotient,
    Sum,
    calls,
    evaluate,
    names,
    replaced,
    walk,
)
from skelgen.models.formulas.grammar import parse
from skelgen.models.formulas.printing import to_latex, to_mathml, to_python, to_text

__all__ = [
    "MATHEMATICS",
    "Expression",
    "FunctionCall",
    "Name",
    "Number",
    "Power",
    "Product",
    "Quotient",
    "Sum",
    "calls",
    "evaluate",
    "names",
    "parse",
    "replaced",
    "to_latex",
    "to_mathml",
    "to_python",
    "to_text",
    "walk",
]
