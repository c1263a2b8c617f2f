"""The processes of LoCAL2: agents, tools and services, and what they share."""
