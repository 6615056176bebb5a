"""`python -m perdure_conformance` is `perdure`."""

from perdure_conformance.cli import main

if __name__ == "__main__":
    main()
