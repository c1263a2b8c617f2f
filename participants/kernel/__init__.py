"""The tool kernel: from what a model asked for to one normalised result. It knows no tool by name."""
