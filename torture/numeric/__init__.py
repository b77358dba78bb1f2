"""The parts of the table of numbers: estimators, inputs, and what every answer must hold."""
