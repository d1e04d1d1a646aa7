"""MineDojo's own Minecraft as the backend: the user's installation in its own interpreter."""
