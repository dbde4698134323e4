"""Run the command line: ``python -m skelgen``."""

from skelgen.cli.main import main

main()
