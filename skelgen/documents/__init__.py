"""Read the YAML and JSON files that skelgen writes, without trusting them.

In: a file that anybody may have written. Out: a `Field`, which reads each value with
its type and its range and says what is wrong by file and place. Going out, files are
sealed with a checksum, which is compared when they are read.
"""

from skelgen.documents.document import read_document
from skelgen.documents.document_field import Field
from skelgen.documents.json_document import json_field, read_json
from skelgen.documents.seal import sealed_json, sealed_yaml

__all__ = [
    "Field",
    "json_field",
    "read_document",
    "read_json",
    "sealed_json",
    "sealed_yaml",
]
