"""The reference model of a durable workflow system: what is right, as small pure code."""
