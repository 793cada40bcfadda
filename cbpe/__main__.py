"""python -m cbpe: the command line."""

from cbpe.cli import main

main()
