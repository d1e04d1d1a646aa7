"""Teaching eyes: labelled frames from any environment that can mask, and a net that learns them."""
