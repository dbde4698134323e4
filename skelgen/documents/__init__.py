"""Read the YAML and JSON files that skelgen writes, without trusting them.

In: a file that anybody may have written. Out: a `Field`, which reads each value with
its type and its range and says what is wrong by file and place.
"""

from skelgen.documents.document import read_document
from skelgen.documents.field import Field

__all__ = ["Field", "read_document"]
