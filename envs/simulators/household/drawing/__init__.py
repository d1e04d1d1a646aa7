"""From the world to meshes on the renderer's stage."""
