"""What playouts cost, compiled and in lock step."""
