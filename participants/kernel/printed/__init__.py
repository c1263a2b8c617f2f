"""Tool calls that a model printed as text: found, taken out, and told apart from what only looks like one."""
