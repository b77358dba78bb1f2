"""Options: those of the methods, from a table of what the library says of itself, and those that commands share."""
