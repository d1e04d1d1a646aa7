"""AI2-THOR through its client: sessions, the agent's body, objects and masks."""
