"""Tools: the model calls them."""
