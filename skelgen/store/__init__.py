"""The store: runs, systems, loads, models, and predictions with what happened.

The only place that knows SQL. In and out go the frozen types of `skelgen.store.rows`.
"""

from skelgen.store.conditions import Condition, condition, conditions_of
from skelgen.store.opening import open_store
from skelgen.store.places import Place, place_of
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
from skelgen.store.store import Added, Application, Entry, Store

__all__ = [
    "Added",
    "Application",
    "Condition",
    "Coupling",
    "Entry",
    "Fact",
    "Inputs",
    "Message",
    "Model",
    "Part",
    "Place",
    "Prediction",
    "Row",
    "Run",
    "Series",
    "Store",
    "Template",
    "condition",
    "conditions_of",
    "open_store",
    "place_of",
]
