"""`python -m rana` is the command `rana`."""

from ._command import main

main()
