"""What it costs to compile the kernels."""
