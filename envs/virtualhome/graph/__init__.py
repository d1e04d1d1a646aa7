"""VirtualHome's evolving graph: nodes, edges and script lines."""
