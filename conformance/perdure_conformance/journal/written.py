"""All that was thought of: every script, whatever it is about."""

from __future__ import annotations

from typing import Final

from perdure_conformance.journal.scripts import SCRIPTS, SNAPSHOT_AND_LEASE_SCRIPTS, Script
from perdure_conformance.journal.scripts_on_files import FILE_SCRIPTS, LIMIT_SCRIPTS

ALL_SCRIPTS: Final[tuple[Script, ...]] = SCRIPTS + SNAPSHOT_AND_LEASE_SCRIPTS + LIMIT_SCRIPTS + FILE_SCRIPTS
