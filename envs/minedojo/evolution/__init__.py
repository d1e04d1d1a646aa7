"""MineDojo as a template for EIE."""
