"""python -m cbpe: the command line."""

from cbpe.cli.app import main

main()
