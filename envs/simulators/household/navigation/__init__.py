"""Where the agent can stand, and from where a thing can be seen."""
