"""python -m cbpe: the command line."""

from cbpe.cli.start import main

main()
