"""The suite: it plays operations against an implementation, judges the answers with the model, and reports."""
