"""Helpers for the command lines and long jobs of all packages.

``options``     command-line parser, option types, one-line error messages
``error_text``  error lines with codes, which pages translate
``progress``    progress bar of a long job
``workers``     pool of worker processes
``cluster``     the same on the machines of a Ray cluster (with ``cluster_pool``, ``cluster_node``, ``cluster_package``)
``files``       atomic file writes
``complete``    the check that a place has something for every row of a table
"""
