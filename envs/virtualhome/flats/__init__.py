"""Furnished flats of our own making, in VirtualHome's graph format, with boxes."""
