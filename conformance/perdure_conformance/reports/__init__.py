"""What people and machines are told: the report, the terminal, the folder of a failure."""
