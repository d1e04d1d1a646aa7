"""The agents of this package, but for the specialist of ALFRED."""
