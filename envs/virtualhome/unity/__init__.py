"""VirtualHome's Unity protocol, spoken as a client."""
