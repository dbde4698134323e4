"""Hot loops in C, called through cffi.

Each ``<name>.c`` with its ``<name>.h`` becomes the extension module ``_<name>``.
Each has a plain Python twin, and tests compare the two: `tests/twins`, or beside its
caller where the package itself uses the twin.
The headers hold plain declarations only, for cffi reads them as they are.
"""
