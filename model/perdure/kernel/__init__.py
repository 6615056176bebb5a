"""The pure kernel: no clock, no randomness, no input or output, no framework."""
