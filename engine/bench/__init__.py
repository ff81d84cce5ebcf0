"""`python -m engine bench`: ours and theirs, measured in one run."""
