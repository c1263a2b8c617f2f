"""The critic: the agent that grades answers."""
