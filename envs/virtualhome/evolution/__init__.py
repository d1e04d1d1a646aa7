"""VirtualHome as a template for EIE."""
