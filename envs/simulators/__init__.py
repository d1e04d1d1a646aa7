"""The embedded simulators that need no download, and the renderer that they share."""
