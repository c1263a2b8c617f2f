"""The processes of a stack: what `local2` renders, starts, watches and stops."""
