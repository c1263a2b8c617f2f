"""Makes a long conversation's prompt short: a summary stands in it for the older turns."""
