"""What every package stands on: records, events, rules of parameters, messages, threads, and the run of a stage."""
