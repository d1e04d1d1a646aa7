"""A client of VirtualHome's Unity protocol."""
