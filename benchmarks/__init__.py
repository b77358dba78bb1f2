"""Speed and quality of lowdim beside its peers, each run in a process of its own under the same settings."""
