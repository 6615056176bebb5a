"""The suite: it asks an implementation, judges the answers with the model, and reports."""
