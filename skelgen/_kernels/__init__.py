"""Hot loops in C, called through cffi.

Each ``<name>.c`` with its ``<name>.h`` becomes the extension module ``_<name>``.
Each has a plain Python twin beside its caller, and tests compare the two.
The headers hold plain declarations only, for cffi reads them as they are.
"""
