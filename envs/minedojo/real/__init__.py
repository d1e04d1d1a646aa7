"""MineDojo's own Minecraft as the backend: a user's installation, by an interpreter of its own."""
