"""The store: runs, systems, loads, models, and predictions with what happened.

The only place that knows SQL. In and out go the frozen types of `skelgen.store.rows`.
"""

from skelgen.store.conditions import Condition, condition, conditions_of
from skelgen.store.location import Place, place_of
from skelgen.store.opening import open_store
from skelgen.store.rows import (
    Coupling,
    Fact,
    Inputs,
    Message,
    Row,
    Run,
    RunPart,
    Series,
    StoredModel,
    StoredPrediction,
    StoredRecording,
    Template,
)
from skelgen.store.store import Added, AddedRow, Store, StoredApplication

__all__ = [
    "Added",
    "AddedRow",
    "Condition",
    "Coupling",
    "Fact",
    "Inputs",
    "Message",
    "Place",
    "Row",
    "Run",
    "RunPart",
    "Series",
    "Store",
    "StoredApplication",
    "StoredModel",
    "StoredPrediction",
    "StoredRecording",
    "Template",
    "condition",
    "conditions_of",
    "open_store",
    "place_of",
]
