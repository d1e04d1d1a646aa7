"""The state of a room: objects, agents and cameras."""
