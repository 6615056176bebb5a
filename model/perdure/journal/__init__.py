"""The journal: an append-only, compare-and-append history of records for each run.

`contract` says what a journal is, `reference` is the sequential truth, `client` reads and writes any journal, and
believes none; every other module is one implementation, or what implementations share: `records` the form of a body,
`frames` and `folder` those on files.
"""

import logging

logging.getLogger("perdure").addHandler(logging.NullHandler())  # Diagnostics go to whoever asks for them.
