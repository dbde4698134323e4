"""What commands answer: one frozen type for each, with its JSON and its schema.

In: what functions of `skelgen.pipeline` return. Out: a `Result`, which ``--json`` and
the server print by `to_json`, and JSON Schemas in ``docs/schemas``, which
``python -m skelgen.results docs/schemas`` writes from the same types.

The types are dataclasses: they need nothing that is not in the standard library.
"""

from skelgen.results.base import Result, to_json
from skelgen.results.schema import schema_of

__all__ = ["Result", "schema_of", "to_json"]
