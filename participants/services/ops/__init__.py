"""ops: watches the pids of the stack, has the dead started again at once, and knows who is silent."""
