"""Our own furnished flats, in VirtualHome's graph format with boxes."""
