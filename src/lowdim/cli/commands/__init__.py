"""The commands, a file each: ``make_parser`` says what can be typed, ``run`` does it."""
