"""The store: runs, systems, loads, models, and predictions with what happened.

The only place that knows SQL. In and out go the frozen types of `skelgen.store.rows`.
"""

from skelgen.store.rows import (
    Coupling,
    Fact,
    Inputs,
    Message,
    Model,
    Part,
    Prediction,
    Row,
    Run,
    Series,
    Template,
)

__all__ = [
    "Coupling",
    "Fact",
    "Inputs",
    "Message",
    "Model",
    "Part",
    "Prediction",
    "Row",
    "Run",
    "Series",
    "Template",
]
