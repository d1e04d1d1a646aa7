"""Plans for VirtualHome's tasks from any state."""
