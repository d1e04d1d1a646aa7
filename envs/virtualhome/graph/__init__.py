"""VirtualHome's evolving graph: the world as nodes, edges and script lines."""
