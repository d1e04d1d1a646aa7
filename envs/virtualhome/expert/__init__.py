"""The expert: plans for VirtualHome's tasks from any state."""
